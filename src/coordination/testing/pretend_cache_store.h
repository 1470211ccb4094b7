// A cache of one process in virtual time, that can be down.
//
// For testing the rules above it. Passes the contract suite of CacheStore as real ones do
// (tests/contract/pretend_coordination_test.cpp). Left out on purpose: it serves one thread, and has nothing at hand to
// peek at.
#pragma once

#include <map>
#include <string>

#include "coordination/cache_store.h"
#include "runtime/clock.h"
#include "runtime/errors.h"

namespace sluice::coordination {

class PretendCacheStore : public CacheStore {
 public:
  explicit PretendCacheStore(Clock& clock) : clock_(clock) {}

  std::optional<CachedCopy> peek(std::string_view) override { return std::nullopt; }
  Task<CacheAnswer> look_up(std::string key, TicketWish wish) override {
    if (down) throw EngineUnavailable("test", "down");
    Kept& kept = kept_[key];
    CacheAnswer answer{.copy = copy_of(kept)};
    const bool wanted = !answer.copy || wish.wants(*answer.copy);
    if (wish.ticket == 0 || !wanted || has_ticket(kept)) co_return answer;
    kept.ticket = wish.ticket;
    kept.ticket_until = clock_.now() + wish.ttl;
    answer.ticket_granted = true;
    co_return answer;
  }
  Task<bool> fill(std::string key, LoadTicket ticket, CacheEntry entry) override {
    if (down) throw EngineUnavailable("test", "down");
    const Kept& kept = kept_[key];
    if (kept.ticket != ticket || !has_ticket(kept)) co_return false;
    keep(key, std::move(entry));
    co_return true;
  }
  Task<> give_up(std::string key, LoadTicket ticket) override {
    if (kept_[key].ticket == ticket) kept_[key].ticket = 0;
    co_return;
  }
  Task<> put(std::string key, CacheEntry entry) override {
    keep(key, std::move(entry));
    co_return;
  }
  Task<> remove(std::string key) override {
    kept_.erase(key);
    co_return;
  }

  // As by a caller in another process, that never ends its load.
  void claim_elsewhere(const std::string& key) {
    kept_[key].ticket = 4711;
    kept_[key].ticket_until = Instant::max();
  }
  Duration fresh_for(const std::string& key) { return kept_[key].entry->fresh_for; }

  bool down = false;

 private:
  struct Kept {
    std::optional<CacheEntry> entry;
    Instant fresh_until{};
    LoadTicket ticket = 0;
    Instant ticket_until{};
  };

  bool has_ticket(const Kept& kept) const { return kept.ticket != 0 && kept.ticket_until > clock_.now(); }
  std::optional<CachedCopy> copy_of(const Kept& kept) const {
    if (!kept.entry || kept.fresh_until + kept.entry->stale_for <= clock_.now()) return std::nullopt;
    return CachedCopy{kept.entry->body, std::chrono::floor<Duration>(kept.fresh_until - clock_.now()),
                      kept.entry->load_cost};
  }
  void keep(const std::string& key, CacheEntry entry) {
    const Instant fresh_until = clock_.now() + entry.fresh_for;
    kept_[key] = {std::move(entry), fresh_until, 0, {}};
  }

  Clock& clock_;
  std::map<std::string, Kept> kept_;
};

}  // namespace sluice::coordination
