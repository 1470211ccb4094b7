// The fixture of cache_store_contract.cpp, for the engines that run it.
#pragma once

#include "coordination/cache_store.h"
#include "tests/contract/port_fixture.h"

namespace sluice::test {

class CacheStoreContract : public PortFixture<coordination::CacheStore> {
 protected:
  using CacheAnswer = coordination::CacheAnswer;
  using CacheEntry = coordination::CacheEntry;
  using LoadTicket = coordination::LoadTicket;

  void SetUp() override {
    PortFixture::SetUp();
    key_ = unique("cached");
  }

  static CacheEntry entry(std::string body, Duration fresh_for = 1min, Duration stale_for = 1min) {
    return {std::make_shared<const std::string>(std::move(body)), fresh_for, stale_for, 1ms};
  }
  static std::string text(const CacheAnswer& answer) {
    if (!answer.copy) return "nothing";
    return answer.copy->body ? *answer.copy->body : "none";
  }

  CacheAnswer look() { return run(port().look_up(key_, {})); }
  CacheAnswer ask(LoadTicket ticket, Duration ttl = 1min, double eagerness = 0) {
    return run(port().look_up(key_, {ticket, ttl, eagerness}));
  }
  bool fill(LoadTicket ticket, CacheEntry entry) { return run(port().fill(key_, ticket, std::move(entry))); }
  void put(CacheEntry entry) { run(port().put(key_, std::move(entry))); }
  void remove() { run(port().remove(key_)); }
  void give_up(LoadTicket ticket) { run(port().give_up(key_, ticket)); }

  std::string key_;
};

}  // namespace sluice::test
