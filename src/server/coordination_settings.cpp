#include "server/coordination_settings.h"

#include "runtime/config.h"

namespace sluice::server {

using enum CoordinationEngine;

void CoordinationEngines::describe(config::Section<CoordinationEngines>& section) {
  section.key("leases", &CoordinationEngines::leases, "Engine for leases.");
  section.key("slots", &CoordinationEngines::slots, "Engine for slots (limits on concurrency).");
  section.key("limits", &CoordinationEngines::limits, "Engine for rate limits.");
  section.key("coalescing", &CoordinationEngines::coalescing, "Engine for coalescing of refreshes; not a database.");
  section.key("cache", &CoordinationEngines::cache, "Engine for the shared cache; not a database.");
  section.key("denylist", &CoordinationEngines::denylist,
              "Engine for the fast copy of denied tokens; the database always has the original.");
}

void CoordinationEngines::validate(config::Problems& problems) const {
  if (coalescing == database) problems.add("coalescing", "must be memory or redis; a database is not supported");
  if (cache == database) problems.add("cache", "must be memory or redis; a database is not supported");
}

void CacheSettings::describe(config::Section<CacheSettings>& section) {
  section.include(&CacheSettings::copies);
  section.bytes("memory", &CacheSettings::memory_bytes, "Memory for copies in each process.").at_least(mib(1));
}

void CoordinationSettings::describe(config::Section<CoordinationSettings>& section) {
  section.key("engine", &CoordinationSettings::engine,
              "Engine of shared state. auto selects redis if redis.url is set, else database if postgres.url is "
              "set, else memory (journaled in the data folder).");
  section.table("engines", &CoordinationSettings::engines, "Overrides of the engine for one kind of state.");
  section.table("cache", &CoordinationSettings::cache, "The shared cache.");
}

CoordinationEngines CoordinationSettings::resolved(bool has_postgres, bool has_redis) const {
  const CoordinationEngine best = has_redis ? redis : has_postgres ? database : memory;
  const CoordinationEngine common = engine == automatic ? best : engine;
  const CoordinationEngine never_database = common == database ? memory : common;
  CoordinationEngines chosen = engines;
  for (CoordinationEngine* one : {&chosen.leases, &chosen.slots, &chosen.limits, &chosen.denylist}) {
    if (*one == automatic) *one = common;
  }
  for (CoordinationEngine* one : {&chosen.coalescing, &chosen.cache}) {
    if (*one == automatic) *one = never_database;
  }
  return chosen;
}

}  // namespace sluice::server
