// Cached copies in this process alone. Nothing survives it, and nothing needs to.
#pragma once

#include "coordination/recent_copies.h"

namespace sluice::memory {

class MemoryCache : public coordination::CacheStore {
 public:
  MemoryCache(Clock& clock, size_t max_bytes) : copies_(clock, max_bytes) {}

  std::optional<coordination::CachedCopy> peek(std::string_view key) override { return copies_.find(key); }
  Task<coordination::CacheAnswer> look_up(std::string key, coordination::TicketWish wish) override {
    co_return copies_.look_up(std::move(key), wish);
  }
  Task<bool> fill(std::string key, coordination::LoadTicket ticket, coordination::CacheEntry entry) override {
    co_return copies_.fill(key, ticket, std::move(entry));
  }
  Task<> give_up(std::string key, coordination::LoadTicket ticket) override {
    copies_.give_up(key, ticket);
    co_return;
  }
  Task<> put(std::string key, coordination::CacheEntry entry) override {
    copies_.put(std::move(key), std::move(entry));
    co_return;
  }
  Task<> remove(std::string key) override {
    copies_.remove(key);
    co_return;
  }

 private:
  coordination::RecentCopies copies_;
};

}  // namespace sluice::memory
