// The most recently used copies, bounded in bytes: the in-memory part of a cache.
//
// The keys are spread over parts, each with its own lock, map and order of use; a full part evicts the least recently
// used copy. Nothing here waits. The rules of copies and tickets are those of coordination/cache_store.h.
//
// Safe to use from any thread.
#pragma once

#include <array>
#include <list>
#include <mutex>
#include <unordered_map>

#include "coordination/cache_store.h"
#include "runtime/clock.h"

namespace sluice::coordination {

class RecentCopies {
 public:
  // Holds `max_bytes` of keys and bodies (bookkeeping included) in all; a body larger than a sixteenth of that is not
  // kept.
  RecentCopies(Clock& clock, size_t max_bytes) : clock_(clock), max_part_bytes_(max_bytes / parts) {}

  std::optional<CachedCopy> find(std::string_view key);
  CacheAnswer look_up(std::string key, TicketWish wish);
  bool fill(const std::string& key, LoadTicket ticket, CacheEntry entry);
  void give_up(const std::string& key, LoadTicket ticket);
  void put(std::string key, CacheEntry entry);
  void remove(std::string_view key);
  void clear();

  // For copies of values kept elsewhere: a value fetched while the key might have been removed must not be stored after
  // the removal. Read `generation` before fetching; put_since stores nothing if anything near the key was removed or
  // put since.
  uint64_t generation(std::string_view key);
  void put_since(uint64_t generation, std::string key, CacheEntry entry);

  size_t bytes() const;

 private:
  static constexpr size_t parts = 16;

  struct Kept {
    std::string key;
    bool has_copy = false;
    CacheBody body;
    Duration load_cost{0};
    Instant fresh_until{};
    Instant keep_until{};
    LoadTicket ticket = 0;
    Instant ticket_until{};

    size_t bytes() const { return sizeof(Kept) + 64 + key.size() + (body ? body->size() : 0); }
    bool claimed(Instant now) const { return ticket != 0 && ticket_until > now; }
    // Unless its time is over.
    std::optional<CachedCopy> copy(Instant now) const;
  };
  using ByUse = std::list<Kept>;  // most recently used first

  struct alignas(64) Part {
    mutable std::mutex mutex;
    ByUse by_use;
    std::unordered_map<std::string_view, ByUse::iterator> by_key;
    size_t bytes = 0;
    uint64_t generation = 0;

    // Moves it to the front; the end if it does not exist.
    ByUse::iterator find(std::string_view key);
    ByUse::iterator find_or_add(std::string key);
    void set(ByUse::iterator kept, CacheEntry entry, Instant now, size_t max_bytes);
    void erase(ByUse::iterator kept);
    void shrink(size_t max_bytes);
  };

  Part& part(std::string_view key) { return parts_[std::hash<std::string_view>{}(key) % parts]; }

  Clock& clock_;
  size_t max_part_bytes_;
  std::array<Part, parts> parts_;
};

}  // namespace sluice::coordination
