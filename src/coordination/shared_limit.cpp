#include "coordination/shared_limit.h"

#include "runtime/errors.h"
#include "runtime/log.h"

namespace sluice::coordination {

Task<> make_known(SharedLimit& limit) {
  try {
    for (size_t priority = 0; priority < limit.plan().priority.size(); ++priority) {
      const int64_t too_many = limit.plan().most_at_once(priority) + 1;
      co_await limit.draw(priority, too_many, too_many);
    }
  } catch (const EngineUnavailable& error) {
    log::warning("the engine does not know the limit yet", {{"limit", limit.plan().name}, {"error", error.what()}});
  }
}

}  // namespace sluice::coordination
