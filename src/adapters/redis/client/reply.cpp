#include "adapters/redis/client/reply.h"

#include <charconv>

#include <fmt/format.h>

#include "adapters/redis/client/redis.h"

namespace sluice::redis {
namespace {

[[noreturn]] void not_a(std::string_view what) {
  throw EngineUnavailable(engine_name, fmt::format("the server's reply is not {}", what),
                          EngineUnavailable::Retryable::no);
}

}  // namespace

int64_t Reply::integer() const {
  if (const auto* number = std::get_if<int64_t>(&value_)) return *number;
  const std::string& digits = text();
  int64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc{} || end != digits.data() + digits.size()) not_a("a whole number");
  return number;
}

const std::string& Reply::text() const {
  if (const auto* text = std::get_if<std::string>(&value_)) return *text;
  not_a("a text");
}

std::string Reply::take_text() {
  if (auto* text = std::get_if<std::string>(&value_)) return std::move(*text);
  not_a("a text");
}

const Reply::Array& Reply::array() const {
  if (const auto* array = std::get_if<Array>(&value_)) return *array;
  not_a("an array");
}

Reply::Array& Reply::array() {
  if (auto* array = std::get_if<Array>(&value_)) return *array;
  not_a("an array");
}

const Reply& Reply::operator[](size_t i) const {
  const Array& all = array();
  if (i >= all.size()) not_a(fmt::format("an array of more than {}", i));
  return all[i];
}

const std::string& Reply::error() const {
  if (const auto* error = std::get_if<Error>(&value_)) return error->text;
  not_a("an error");
}

}  // namespace sluice::redis
