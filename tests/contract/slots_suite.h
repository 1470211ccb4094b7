// The fixture of slots_contract.cpp, for the engines that run it.
#pragma once

#include <set>

#include "coordination/slots.h"
#include "tests/contract/port_fixture.h"

namespace sluice::test {

class SlotsContract : public PortFixture<coordination::Slots> {
 protected:
  using Slot = coordination::Slot;

  void SetUp() override {
    PortFixture::SetUp();
    key_ = unique("slots");
  }

  std::optional<Slot> take(int64_t n, Duration ttl = 1min) { return run(port().take(key_, n, "me", ttl)); }
  int64_t in_use() { return run(port().in_use(key_)); }
  // The slots of `callers` concurrent callers.
  std::vector<Slot> race(int64_t n, int callers) {
    std::vector<Task<std::optional<Slot>>> asking;
    for (int i = 0; i < callers; ++i) asking.push_back(port().take(key_, n, fmt::format("caller {}", i), 1min));
    std::vector<Slot> got;
    for (const std::optional<Slot>& slot : values_of(std::move(asking))) {
      if (slot) got.push_back(*slot);
    }
    return got;
  }
  static std::set<int64_t> numbers(const std::vector<Slot>& slots) {
    std::set<int64_t> found;
    for (const Slot& slot : slots) found.insert(slot.number);
    return found;
  }

  std::string key_;
};

}  // namespace sluice::test
