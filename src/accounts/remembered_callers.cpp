#include "accounts/remembered_callers.h"

#include "accounts/api_keys.h"
#include "runtime/errors.h"

namespace sluice::accounts {

Task<std::optional<Caller>> RememberedCallers::identify(std::string token) {
  // By hash: secrets are not kept.
  const std::string hash = to_hex(hash_secret(token));
  Memory memory = recall(hash);
  if (memory.answered) co_return std::move(memory.caller);
  const bool may_look = memory.was_known || looks_.under_way() < most_looks || looks_.under_way(hash);
  if (!may_look) throw Overloaded("accounts");
  const auto work = [this, &hash, &token] { return look(hash, std::move(token)); };
  co_return co_await looks_.run(hash, work);
}

Task<std::optional<Caller>> RememberedCallers::look(std::string hash, std::string token) {
  Memory memory = recall(hash);  // of a look that ended after this caller had recalled nothing
  if (memory.answered) co_return std::move(memory.caller);
  std::optional<Caller> caller = co_await source_.identify(std::move(token));
  remember(hash, caller);
  co_return caller;
}

RememberedCallers::Memory RememberedCallers::recall(const std::string& hash) {
  const std::lock_guard lock(mutex_);
  const Instant now = clock_.now();
  if (const auto known = known_.find(hash); known != known_.end()) {
    const bool fresh = now < known->second.until;
    return {.answered = fresh, .was_known = true, .caller = known->second.caller};
  }
  const auto unknown = unknown_.find(hash);
  return {.answered = unknown != unknown_.end() && now < unknown->second, .was_known = false, .caller = {}};
}

void RememberedCallers::remember(const std::string& hash, const std::optional<Caller>& caller) {
  const std::lock_guard lock(mutex_);
  const Instant until = clock_.now() + remember_for;
  // A full memory is cleared: simpler than evicting entries, and each then costs one more lookup.
  if (caller) {
    unknown_.erase(hash);
    if (known_.size() >= most_known) known_.clear();
    known_.insert_or_assign(hash, Known{*caller, until});
  } else {
    known_.erase(hash);
    if (unknown_.size() >= most_unknown) unknown_.clear();
    unknown_.insert_or_assign(hash, until);
  }
}

}  // namespace sluice::accounts
