#include "coordination/recent_copies.h"

namespace sluice::coordination {

std::optional<CachedCopy> RecentCopies::find(std::string_view key) {
  Part& part = this->part(key);
  const std::scoped_lock lock(part.mutex);
  const auto kept = part.find(key);
  if (kept == part.by_use.end()) return std::nullopt;
  return kept->copy(clock_.now());
}

CacheAnswer RecentCopies::look_up(std::string key, TicketWish wish) {
  Part& part = this->part(key);
  const std::scoped_lock lock(part.mutex);
  const Instant now = clock_.now();
  CacheAnswer answer;
  if (const auto kept = part.find(key); kept != part.by_use.end()) {
    answer.copy = kept->copy(now);
    if (kept->claimed(now)) return answer;
  }
  if (wish.ticket == 0 || (answer.copy && !wish.wants(*answer.copy))) return answer;
  const auto kept = part.find_or_add(std::move(key));
  kept->ticket = wish.ticket;
  kept->ticket_until = now + wish.ttl;
  answer.ticket_granted = true;
  part.shrink(max_part_bytes_);
  return answer;
}

bool RecentCopies::fill(const std::string& key, LoadTicket ticket, CacheEntry entry) {
  Part& part = this->part(key);
  const std::scoped_lock lock(part.mutex);
  const Instant now = clock_.now();
  const auto kept = part.find(key);
  if (kept == part.by_use.end() || kept->ticket != ticket || !kept->claimed(now)) return false;
  part.set(kept, std::move(entry), now, max_part_bytes_);
  return true;
}

void RecentCopies::give_up(const std::string& key, LoadTicket ticket) {
  Part& part = this->part(key);
  const std::scoped_lock lock(part.mutex);
  const auto kept = part.find(key);
  if (kept != part.by_use.end() && kept->ticket == ticket) kept->ticket = 0;
}

void RecentCopies::put(std::string key, CacheEntry entry) {
  Part& part = this->part(key);
  const std::scoped_lock lock(part.mutex);
  ++part.generation;
  part.set(part.find_or_add(std::move(key)), std::move(entry), clock_.now(), max_part_bytes_);
}

void RecentCopies::remove(std::string_view key) {
  Part& part = this->part(key);
  const std::scoped_lock lock(part.mutex);
  ++part.generation;
  const auto kept = part.find(key);
  if (kept != part.by_use.end()) part.erase(kept);
}

void RecentCopies::clear() {
  for (Part& part : parts_) {
    const std::scoped_lock lock(part.mutex);
    ++part.generation;
    part.by_key.clear();
    part.by_use.clear();
    part.bytes = 0;
  }
}

uint64_t RecentCopies::generation(std::string_view key) {
  Part& part = this->part(key);
  const std::scoped_lock lock(part.mutex);
  return part.generation;
}

void RecentCopies::put_since(uint64_t generation, std::string key, CacheEntry entry) {
  Part& part = this->part(key);
  const std::scoped_lock lock(part.mutex);
  if (part.generation != generation) return;
  part.set(part.find_or_add(std::move(key)), std::move(entry), clock_.now(), max_part_bytes_);
}

size_t RecentCopies::bytes() const {
  size_t sum = 0;
  for (const Part& part : parts_) {
    const std::scoped_lock lock(part.mutex);
    sum += part.bytes;
  }
  return sum;
}

std::optional<CachedCopy> RecentCopies::Kept::copy(Instant now) const {
  if (!has_copy || keep_until <= now) return std::nullopt;
  return CachedCopy{body, std::chrono::floor<Duration>(fresh_until - now), load_cost};
}

RecentCopies::ByUse::iterator RecentCopies::Part::find(std::string_view key) {
  const auto found = by_key.find(key);
  if (found == by_key.end()) return by_use.end();
  by_use.splice(by_use.begin(), by_use, found->second);
  return found->second;
}

RecentCopies::ByUse::iterator RecentCopies::Part::find_or_add(std::string key) {
  const auto kept = find(key);
  if (kept != by_use.end()) return kept;
  by_use.emplace_front().key = std::move(key);
  by_key.emplace(by_use.front().key, by_use.begin());
  bytes += by_use.front().bytes();
  return by_use.begin();
}

void RecentCopies::Part::set(ByUse::iterator kept, CacheEntry entry, Instant now, size_t max_bytes) {
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

void RecentCopies::Part::erase(ByUse::iterator kept) {
  bytes -= kept->bytes();
  by_key.erase(kept->key);
  by_use.erase(kept);
}

void RecentCopies::Part::shrink(size_t max_bytes) {
  while (bytes > max_bytes) erase(std::prev(by_use.end()));
}

}  // namespace sluice::coordination
