// A limit's state as a row of a database stores it: 64-bit numbers in little-endian order, and names.
//
//   version, run, windows {name, most, used, stamps, stamp...}, priorities {name, permits, until, wanted until}
//
// Windows and priorities are found by name, so that a changed plan loses only the state of its changed parts.
#include <algorithm>
#include <bit>
#include <cstring>

#include "coordination/limit_state.h"

namespace sluice::coordination {
namespace {

static_assert(std::endian::native == std::endian::little, "stamps are written as they stand in memory");

constexpr int64_t version = 2;

class Writer {
 public:
  void number(int64_t value) { raw(&value, sizeof value); }
  void name(const std::string& text) {
    number(static_cast<int64_t>(text.size()));
    raw(text.data(), text.size());
  }
  void numbers(const std::vector<Stamp>& values) {
    number(static_cast<int64_t>(values.size()));
    raw(values.data(), values.size() * sizeof(Stamp));
  }
  Bytes take() { return std::move(bytes_); }

 private:
  void raw(const void* data, size_t size) {
    const auto* from = static_cast<const uint8_t*>(data);
    bytes_.insert(bytes_.end(), from, from + size);
  }
  Bytes bytes_;
};

// Reads zeros and nothing beyond the end, and says so.
class Reader {
 public:
  explicit Reader(std::span<const uint8_t> bytes) : bytes_(bytes) {}

  bool ended() const { return ended_; }
  int64_t number() {
    int64_t value = 0;
    raw(&value, sizeof value);
    return value;
  }
  std::string name() {
    std::string text(count(1), '\0');
    raw(text.data(), text.size());
    return text;
  }
  std::vector<Stamp> numbers() {
    std::vector<Stamp> values(count(sizeof(Stamp)));
    raw(values.data(), values.size() * sizeof(Stamp));
    return values;
  }

 private:
  // The number of items of `size` that follow; 0 if the remaining bytes cannot hold them.
  size_t count(size_t size) {
    const auto stated = static_cast<uint64_t>(number());
    if (stated <= bytes_.size() / size) return stated;
    ended_ = true;
    return 0;
  }
  void raw(void* to, size_t size) {
    if (size > bytes_.size()) ended_ = true;
    if (ended_ || size == 0) return;
    std::memcpy(to, bytes_.data(), size);
    bytes_ = bytes_.subspan(size);
  }
  std::span<const uint8_t> bytes_;
  bool ended_ = false;
};

}  // namespace

Bytes LimitState::save(int64_t run) const {
  Writer writer;
  writer.number(version);
  writer.number(run);
  writer.number(static_cast<int64_t>(rings_.size()));
  for (size_t i = 0; i < rings_.size(); ++i) {
    writer.name(plan_->window[i].name);
    writer.number(plan_->window[i].most);
    writer.number(rings_[i].used());
    writer.numbers(rings_[i].stamps());
  }
  writer.number(static_cast<int64_t>(accounts_.size()));
  for (size_t i = 0; i < accounts_.size(); ++i) {
    writer.name(plan_->priority[i].name);
    writer.number(accounts_[i].credit.permits);
    writer.number(accounts_[i].credit.until);
    writer.number(accounts_[i].wanted_until);
  }
  return writer.take();
}

LimitState::LimitState(std::shared_ptr<const LimitPlan> plan, Stamp now, std::span<const uint8_t> bytes, int64_t run)
    : LimitState(std::move(plan), now) {
  Reader reader(bytes);
  if (reader.number() != version || reader.number() != run) return;
  for (int64_t left = reader.number(); left > 0 && !reader.ended(); --left) {
    const std::string name = reader.name();
    const int64_t most = reader.number();
    const int64_t used = reader.number();
    std::vector<Stamp> stamps = reader.numbers();
    const auto window = std::ranges::find(plan_->window, name, &LimitWindow::name);
    if (reader.ended() || window == plan_->window.end() || window->most != most) continue;
    rings_[static_cast<size_t>(window - plan_->window.begin())] =
        LimitRing(most, plan_->span(*window), std::move(stamps), used, now);
  }
  for (int64_t left = reader.number(); left > 0 && !reader.ended(); --left) {
    const std::string name = reader.name();
    const Credit credit{.permits = reader.number(), .until = reader.number()};
    const Stamp wanted_until = reader.number();
    const std::optional<size_t> priority = plan_->find_priority(name);
    if (reader.ended() || !priority) continue;
    accounts_[*priority].credit = credit;
    accounts_[*priority].wanted_until = wanted_until;
  }
}

}  // namespace sluice::coordination
