// A short-lived cache of callers.
//
// A request must not cost a database lookup, neither for a known caller nor for a client that repeats a wrong token.
// Both are remembered for `remember_for`, in separate caches, so that unknown tokens cannot evict known callers.
// Concurrent requests with the same token share one lookup.
#pragma once

#include <mutex>
#include <unordered_map>

#include "accounts/caller.h"
#include "coordination/single_flight.h"
#include "runtime/clock.h"

namespace sluice::accounts {

// Safe to share between threads.
class RememberedCallers : public Callers {
 public:
  // A revoked key works that much longer.
  static constexpr Duration remember_for = 5s;
  static constexpr size_t most_known = 10'000;
  static constexpr size_t most_unknown = 10'000;
  // Tokens looked up at once; further ones are refused (Overloaded), except those that were known lately.
  static constexpr size_t most_looks = 64;

  // Looks are taken on `executor`, which `scope` belongs to. `source` and `clock` outlive it.
  RememberedCallers(Callers& source, const Clock& clock, TaskScope& scope, const Executor& executor)
      : source_(source), clock_(clock), looks_(scope, executor) {}

  Task<std::optional<Caller>> identify(std::string token) override;

 private:
  struct Known {
    Caller caller;
    Instant until;  // kept beyond it: a caller that was known is looked up before strangers
  };
  struct Memory {
    bool answered = false;
    bool was_known = false;
    std::optional<Caller> caller;
  };
  Memory recall(const std::string& hash);
  Task<std::optional<Caller>> look(std::string hash, std::string token);
  void remember(const std::string& hash, const std::optional<Caller>& caller);

  Callers& source_;
  const Clock& clock_;
  coordination::SingleFlight<std::optional<Caller>> looks_;
  std::mutex mutex_;
  std::unordered_map<std::string, Known> known_;
  std::unordered_map<std::string, Instant> unknown_;
};

}  // namespace sluice::accounts
