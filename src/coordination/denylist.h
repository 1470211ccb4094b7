// Revoked tokens, known at once to every check.
//
// The records in the database are the truth; every process has a copy in memory, and where there is a shared copy
// (Redis) it closes the gap until the memory of all has followed:
//   with a shared copy      a denial holds everywhere when `deny` returns;
//   without, one process    so it does;
//   without, several        within a second everywhere (`follow_every`), at once in the process that denied.
// A process that has not heard from the database for five seconds (`trust_for`) trusts its memory no longer and asks.
// A wiped or failed-over shared copy says that it does not know; the database is asked and the copy is filled again.
#pragma once

#include <atomic>
#include <mutex>
#include <optional>
#include <unordered_map>

#include "base/random.h"
#include "coordination/denial_copy.h"
#include "runtime/clock.h"
#include "runtime/task_scope.h"
#include "runtime/wakeup.h"

namespace sluice::coordination {

struct DenylistOptions {
  Duration follow_every = 1s;
  Duration trust_for = 5s;
};

// `deny` and `denied` may be called from any thread; the rest belongs to the executor.
class Denylist {
 public:
  // `shared` may be null. `random` is used on the executor only.
  Denylist(DenialRecords& records, DenialCopy* shared, Clock& clock, Random& random, Executor executor,
           DenylistOptions options = {});

  // Reads all there is; before the first question.
  Task<> load() { return catch_up(); }
  // Follows the records for as long as the scope lasts.
  void start(TaskScope& scope);

  // Durable, and holding as said above, when it returns. Throws EngineUnavailable; then it may hold or not, and denying
  // again is harmless.
  Task<> deny(std::string token, Time until);

  Task<bool> denied(std::string token);

 private:
  Task<> follow_round();
  Task<> fill_round();
  Task<> tidy_round();

  // Reads new records into memory.
  Task<> catch_up();
  Task<bool> ask_shared(std::string token);
  void want_fill();
  void remember(const std::vector<Denial>& denials);
  bool remembers(const std::string& token) const;
  bool up_to_date() const;

  DenialRecords& records_;
  DenialCopy* shared_;
  Clock& clock_;
  Random& random_;
  Executor executor_;
  DenylistOptions options_;
  DenialMark mark_;
  Wakeup fill_wanted_;
  std::atomic<bool> filling_wanted_ = false;

  mutable std::mutex mutex_;
  std::unordered_map<std::string, Time> memory_;
  std::optional<Instant> caught_up_at_;  // when the last catch_up that succeeded began
};

}  // namespace sluice::coordination
