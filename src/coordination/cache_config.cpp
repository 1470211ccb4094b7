// How the settings of a shared cache are written in a configuration.
#include "coordination/shared_cache.h"
#include "runtime/config_section.h"

namespace sluice::coordination {

void CacheConfig::describe(config::Section<CacheConfig>& section) {
  section.key("ttl", &CacheConfig::ttl, "Time a copy stays fresh.").at_least(1ms);
  section.key("jitter", &CacheConfig::jitter, "Largest fraction by which ttl is shortened at random.").between(0, 1);
  section.key("stale_for", &CacheConfig::stale_for, "Time a stale copy may still be served while it is reloaded.");
  section.key("negative_ttl", &CacheConfig::negative_ttl, "Time a negative result is cached.");
  section.key("load_limit", &CacheConfig::load_limit, "Time limit for a load.").at_least(1ms);
  section.key("wait_limit", &CacheConfig::wait_limit, "Time to wait for a load by another instance.");
  section.key("eagerness", &CacheConfig::eagerness, "How early a copy is renewed, as a multiple of its load time.")
      .between(0, 100);
}

}  // namespace sluice::coordination
