#include "adapters/memory/memory_cache.h"

namespace sluice::memory {

using coordination::CacheAnswer;
using coordination::CachedCopy;
using coordination::CacheEntry;
using coordination::LoadTicket;
using coordination::TicketWish;

std::optional<CachedCopy> MemoryCache::peek(std::string_view key) {
  Part& part = this->part(key);
  const std::scoped_lock lock(part.mutex);
  const auto kept = part.find(key);
  if (kept == part.by_use.end()) return std::nullopt;
  return copy(*kept, clock_.now());
}

Task<CacheAnswer> MemoryCache::look_up(std::string key, TicketWish wish) {
  Part& part = this->part(key);
  const std::scoped_lock lock(part.mutex);
  const Instant now = clock_.now();
  auto kept = part.find(key);
  CacheAnswer answer;
  if (kept != part.by_use.end()) {
    answer.copy = copy(*kept, now);
    if (kept->claimed(now)) co_return answer;
  }
  if (wish.ticket == 0) co_return answer;
  if (answer.copy && static_cast<double>(answer.copy->fresh_for.count()) >
                         static_cast<double>(answer.copy->load_cost.count()) * wish.eagerness) {
    co_return answer;
  }
  if (kept == part.by_use.end()) kept = part.add(std::move(key));
  kept->ticket = wish.ticket;
  kept->ticket_until = now + wish.ttl;
  answer.ticket_granted = true;
  part.shrink(max_part_bytes_);
  co_return answer;
}

Task<bool> MemoryCache::fill(std::string key, LoadTicket ticket, CacheEntry entry) {
  Part& part = this->part(key);
  const std::scoped_lock lock(part.mutex);
  const Instant now = clock_.now();
  const auto kept = part.find(key);
  if (kept == part.by_use.end() || kept->ticket != ticket || !kept->claimed(now)) co_return false;
  part.set(kept, std::move(entry), now, max_part_bytes_);
  co_return true;
}

Task<> MemoryCache::give_up(std::string key, LoadTicket ticket) {
  Part& part = this->part(key);
  const std::scoped_lock lock(part.mutex);
  const auto kept = part.find(key);
  if (kept != part.by_use.end() && kept->ticket == ticket) kept->ticket = 0;
  co_return;
}

Task<> MemoryCache::put(std::string key, CacheEntry entry) {
  Part& part = this->part(key);
  const std::scoped_lock lock(part.mutex);
  auto kept = part.find(key);
  if (kept == part.by_use.end()) kept = part.add(std::move(key));
  part.set(kept, std::move(entry), clock_.now(), max_part_bytes_);
  co_return;
}

Task<> MemoryCache::remove(std::string key) {
  Part& part = this->part(key);
  const std::scoped_lock lock(part.mutex);
  const auto kept = part.find(key);
  if (kept != part.by_use.end()) part.erase(kept);
  co_return;
}

size_t MemoryCache::bytes() const {
  size_t sum = 0;
  for (const Part& part : parts_) {
    const std::scoped_lock lock(part.mutex);
    sum += part.bytes;
  }
  return sum;
}

std::optional<CachedCopy> MemoryCache::copy(const Kept& kept, Instant now) {
  if (!kept.has_copy || kept.keep_until <= now) return std::nullopt;
  return CachedCopy{kept.body, std::chrono::floor<Duration>(kept.fresh_until - now), kept.load_cost};
}

MemoryCache::ByUse::iterator MemoryCache::Part::find(std::string_view key) {
  const auto found = by_key.find(key);
  if (found == by_key.end()) return by_use.end();
  by_use.splice(by_use.begin(), by_use, found->second);
  return found->second;
}

MemoryCache::ByUse::iterator MemoryCache::Part::add(std::string key) {
  by_use.emplace_front().key = std::move(key);
  by_key.emplace(by_use.front().key, by_use.begin());
  bytes += by_use.front().bytes();
  return by_use.begin();
}

void MemoryCache::Part::set(ByUse::iterator kept, CacheEntry entry, Instant now, size_t max_bytes) {
  bytes -= kept->bytes();
  kept->has_copy = true;
  kept->body = std::move(entry.body);
  kept->load_cost = entry.load_cost;
  kept->fresh_until = now + entry.fresh_for;
  kept->keep_until = kept->fresh_until + entry.stale_for;
  kept->ticket = 0;
  bytes += kept->bytes();
  // One that fits nowhere must not drive out all the others first.
  if (kept->bytes() > max_bytes) erase(kept);
  shrink(max_bytes);
}

void MemoryCache::Part::erase(ByUse::iterator kept) {
  bytes -= kept->bytes();
  by_key.erase(kept->key);
  by_use.erase(kept);
}

void MemoryCache::Part::shrink(size_t max_bytes) {
  while (bytes > max_bytes) erase(std::prev(by_use.end()));
}

}  // namespace sluice::memory
