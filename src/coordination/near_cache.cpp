#include "coordination/near_cache.h"

#include <algorithm>

namespace sluice::coordination {

Task<CacheAnswer> NearCache::look_up(std::string key, TicketWish wish) {
  const bool listening = listening_;
  const uint64_t generation = near_.generation(key);
  CacheAnswer answer = co_await shared_.look_up(key, wish);
  if (listening && answer.copy && answer.copy->fresh()) {
    const CachedCopy& copy = *answer.copy;
    const Duration fresh_for = std::min(copy.fresh_for, options_.ttl);
    near_.put_since(generation, std::move(key), {copy.body, fresh_for, Duration{0}, copy.load_cost});
  }
  co_return answer;
}

// The next lookup brings a loaded value near: a load says nothing about how often the value will be read.
Task<bool> NearCache::fill(std::string key, LoadTicket ticket, CacheEntry entry) {
  const bool filled = co_await shared_.fill(key, ticket, std::move(entry));
  if (filled) near_.remove(key);
  co_return filled;
}

// Both drop the near copy also where the store failed: whether it changed is unknown.
Task<> NearCache::put(std::string key, CacheEntry entry) {
  near_.remove(key);
  co_await shared_.put(key, std::move(entry));
  near_.remove(key);
}

Task<> NearCache::remove(std::string key) {
  near_.remove(key);
  co_await shared_.remove(key);
  near_.remove(key);
}

void NearCache::listening() {
  near_.clear();
  listening_ = true;
}

// In this order: later fetches see the flag, earlier ones the new generation.
void NearCache::interrupted() {
  listening_ = false;
  near_.clear();
}

}  // namespace sluice::coordination
