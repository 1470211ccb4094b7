#include "coordination/leases.h"

#include "runtime/log.h"

namespace sluice::coordination {

Task<std::optional<LeaseHolder>> Leases::force_release(std::string key, std::string who) {
  std::optional<LeaseHolder> lost = co_await end_any(key);
  // Here, so that no adapter can forget it.
  log::warning("lease released forcibly", {{"lease", key}, {"by", who}, {"holder", lost ? lost->owner : "nobody"}});
  co_return lost;
}

}  // namespace sluice::coordination
