// How the settings of a shared cache are written in a configuration.
#include "coordination/shared_cache.h"
#include "runtime/config_section.h"

namespace sluice::coordination {

void CacheConfig::describe(config::Section<CacheConfig>& section) {
  section.key("ttl", &CacheConfig::ttl, "How long a copy is fresh.").at_least(1ms);
  section.key("jitter", &CacheConfig::jitter, "By what part of it at most a copy's time is shortened, by chance.")
      .between(0, 1);
  section.key("stale_for", &CacheConfig::stale_for, "How long a copy may be served beyond that while it is reloaded.");
  section.key("negative_ttl", &CacheConfig::negative_ttl, "How long it is remembered that there is none.");
  section.key("load_limit", &CacheConfig::load_limit, "How long loading may take.").at_least(1ms);
  section.key("wait_limit", &CacheConfig::wait_limit, "How long to wait for another instance's load.");
  section.key("eagerness", &CacheConfig::eagerness, "How early a copy is renewed, in units of what loading takes.")
      .between(0, 100);
}

}  // namespace sluice::coordination
