#include "adapters/sql/driver/value.h"

#include "base/check.h"

template class std::variant<sluice::sql::Null, bool, int64_t, double, std::string, sluice::Bytes, sluice::Time,
                            sluice::Uuid, sluice::sql::Array>;
template class std::vector<sluice::sql::Value>;

namespace sluice::sql {

Params::Params() = default;
Params::Params(const Params&) = default;
Params::Params(Params&&) noexcept = default;
Params& Params::operator=(const Params&) = default;
Params& Params::operator=(Params&&) noexcept = default;
Params::~Params() = default;

void Params::reserve(size_t count) {
  values_.reserve(count);
}
void Params::add_value(Value value) {
  values_.push_back(std::move(value));
}

int64_t Row::integer(size_t column) const {
  const auto* value = std::get_if<int64_t>(&values_.at(column));
  check_that(value != nullptr, "column {} is not an integer", column);
  return *value;
}

bool Row::boolean(size_t column) const {
  if (const auto* value = std::get_if<bool>(&values_.at(column))) return *value;
  return integer(column) != 0;
}

double Row::real(size_t column) const {
  if (const auto* value = std::get_if<double>(&values_.at(column))) return *value;
  return static_cast<double>(integer(column));
}

const std::string& Row::text(size_t column) const {
  const auto* value = std::get_if<std::string>(&values_.at(column));
  check_that(value != nullptr, "column {} is not text", column);
  return *value;
}

const Bytes& Row::bytes(size_t column) const {
  const auto* value = std::get_if<Bytes>(&values_.at(column));
  check_that(value != nullptr, "column {} is not bytes", column);
  return *value;
}

Time Row::time(size_t column) const {
  if (const auto* value = std::get_if<Time>(&values_.at(column))) return *value;
  return Time{Duration{integer(column)}};
}

Uuid Row::uuid(size_t column) const {
  if (const auto* value = std::get_if<Uuid>(&values_.at(column))) return *value;
  const Bytes& raw = bytes(column);
  Uuid uuid;
  check_that(raw.size() == uuid.bytes.size(), "column {} has {} bytes and is not an id", column, raw.size());
  std::ranges::copy(raw, uuid.bytes.begin());
  return uuid;
}

std::optional<std::string> Row::optional_text(size_t column) const {
  if (is_null(column)) return std::nullopt;
  return text(column);
}

std::optional<int64_t> Row::optional_integer(size_t column) const {
  if (is_null(column)) return std::nullopt;
  return integer(column);
}

std::optional<Time> Row::optional_time(size_t column) const {
  if (is_null(column)) return std::nullopt;
  return time(column);
}

std::optional<Uuid> Row::optional_uuid(size_t column) const {
  if (is_null(column)) return std::nullopt;
  return uuid(column);
}

const Row& Rows::one() const {
  check_that(rows.size() == 1, "expected one row, got {}", rows.size());
  return rows.front();
}

}  // namespace sluice::sql
