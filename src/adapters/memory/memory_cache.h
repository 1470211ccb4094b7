// Cached copies in this process, bounded in bytes.
//
// The keys are spread over parts, each with its own lock, map and order of use; where a part is full, what was used
// least recently goes. Nothing survives the process, and nothing needs to.
#pragma once

#include <array>
#include <list>
#include <mutex>
#include <unordered_map>

#include "coordination/cache_store.h"
#include "runtime/clock.h"

namespace sluice::memory {

class MemoryCache : public coordination::CacheStore {
 public:
  // Holds `max_bytes` of keys and bodies (bookkeeping included) in all; a body larger than a sixteenth of that is not
  // kept.
  MemoryCache(Clock& clock, size_t max_bytes) : clock_(clock), max_part_bytes_(max_bytes / parts) {}

  std::optional<coordination::CachedCopy> peek(std::string_view key) override;
  Task<coordination::CacheAnswer> look_up(std::string key, coordination::TicketWish wish) override;
  Task<bool> fill(std::string key, coordination::LoadTicket ticket, coordination::CacheEntry entry) override;
  Task<> give_up(std::string key, coordination::LoadTicket ticket) override;
  Task<> put(std::string key, coordination::CacheEntry entry) override;
  Task<> remove(std::string key) override;

  size_t bytes() const;

 private:
  static constexpr size_t parts = 16;

  struct Kept {
    std::string key;
    bool has_copy = false;
    coordination::CacheBody body;
    Duration load_cost{0};
    Instant fresh_until{};
    Instant keep_until{};
    coordination::LoadTicket ticket = 0;
    Instant ticket_until{};

    size_t bytes() const { return sizeof(Kept) + 64 + key.size() + (body ? body->size() : 0); }
    bool claimed(Instant now) const { return ticket != 0 && ticket_until > now; }
  };
  using ByUse = std::list<Kept>;  // most recently used first

  struct alignas(64) Part {
    mutable std::mutex mutex;
    ByUse by_use;
    std::unordered_map<std::string_view, ByUse::iterator> by_key;
    size_t bytes = 0;

    // Moves it to the front; the end where there is none.
    ByUse::iterator find(std::string_view key);
    ByUse::iterator add(std::string key);
    void set(ByUse::iterator kept, coordination::CacheEntry entry, Instant now, size_t max_bytes);
    void erase(ByUse::iterator kept);
    void shrink(size_t max_bytes);
  };

  Part& part(std::string_view key) { return parts_[std::hash<std::string_view>{}(key) % parts]; }
  // The copy unless its time is over.
  static std::optional<coordination::CachedCopy> copy(const Kept& kept, Instant now);

  Clock& clock_;
  size_t max_part_bytes_;
  std::array<Part, parts> parts_;
};

}  // namespace sluice::memory
