#include "server/coordination_settings.h"

#include "runtime/config.h"

namespace sluice::server {

using enum CoordinationEngine;

void CoordinationEngines::describe(config::Section<CoordinationEngines>& section) {
  section.key("leases", &CoordinationEngines::leases, "Who does a thing that one should do.");
  section.key("slots", &CoordinationEngines::slots, "At most so many at once.");
  section.key("limits", &CoordinationEngines::limits, "At most so many in a window of time.");
  section.key("coalescing", &CoordinationEngines::coalescing, "Requests for the same refresh. Not in a database.");
  section.key("cache", &CoordinationEngines::cache, "Copies of costly answers. Not in a database.");
  section.key("denylist", &CoordinationEngines::denylist,
              "The fast copy of denied tokens; the truth is in the database in any case.");
}

void CoordinationEngines::validate(config::Problems& problems) const {
  if (coalescing == database) problems.add("coalescing", "can't be kept in a database; use memory or redis");
  if (cache == database) problems.add("cache", "can't be kept in a database; use memory or redis");
}

void CacheSettings::describe(config::Section<CacheSettings>& section) {
  section.include(&CacheSettings::copies);
  section.bytes("memory", &CacheSettings::memory_bytes, "What a process keeps of it at hand.").at_least(mib(1));
}

void CoordinationSettings::describe(config::Section<CoordinationSettings>& section) {
  section.key(
      "engine", &CoordinationSettings::engine,
      "Where shared state is kept: auto takes redis if redis.url is set, else database if postgres.url is, else "
      "memory (journaled in the data folder).");
  section.table("engines", &CoordinationSettings::engines, "The same for one kind of state.");
  section.table("cache", &CoordinationSettings::cache, "Shared copies of costly answers.");
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
