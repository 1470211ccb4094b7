// A shared cache with its hottest copies in process memory.
//
// Copies found in the shared store are kept in the process for a few seconds, so that a hit costs no round trip. Every
// instance is notified of removals and puts; while notifications are interrupted (`interrupted`) nothing is kept and
// every lookup goes to the store. A removal in this process takes effect in it at once; in others as soon as the
// message arrives.
//
// Safe to use from any thread.
#pragma once

#include <atomic>

#include "coordination/recent_copies.h"

namespace sluice::coordination {

// Notified of changes to copies.
class CopyInvalidation {
 public:
  virtual ~CopyInvalidation() = default;

  // From now on every change is told; earlier ones may have been missed.
  virtual void listening() = 0;
  // Changes are missed from now on.
  virtual void interrupted() = 0;
  virtual void changed(std::string_view key) = 0;
};

struct NearCacheOptions {
  size_t max_bytes = 16 << 20;
  Duration ttl = 5s;
};

class NearCache : public CacheStore, public CopyInvalidation {
 public:
  NearCache(CacheStore& shared, Clock& clock, NearCacheOptions options = {})
      : shared_(shared), options_(options), near_(clock, options.max_bytes) {}

  std::optional<CachedCopy> peek(std::string_view key) override { return near_.find(key); }
  Task<CacheAnswer> look_up(std::string key, TicketWish wish) override;
  Task<bool> fill(std::string key, LoadTicket ticket, CacheEntry entry) override;
  Task<> give_up(std::string key, LoadTicket ticket) override { return shared_.give_up(std::move(key), ticket); }
  Task<> put(std::string key, CacheEntry entry) override;
  Task<> remove(std::string key) override;

  void listening() override;
  void interrupted() override;
  void changed(std::string_view key) override { near_.remove(key); }

 private:
  CacheStore& shared_;
  NearCacheOptions options_;
  RecentCopies near_;
  std::atomic<bool> listening_ = false;
};

}  // namespace sluice::coordination
