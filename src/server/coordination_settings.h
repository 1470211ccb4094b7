// Settings of SharedState: the engine of each kind of shared state.
//
// `engine` selects the engine of all kinds, `engines` that of one. By default state is in Redis if it is configured,
// else in PostgreSQL if it is configured, else in the memory of the process, journaled where losing it would matter.
// Copies and coalescing are never kept in a database; if `engine` is one, each process keeps them in its memory.
//
// The configuration does not offer them yet (server/settings.h). The first feature that uses SharedState registers the
// section and checks that a selected Redis is configured.
#pragma once

#include "base/enum_names.h"
#include "coordination/shared_cache.h"
#include "runtime/config_fwd.h"

namespace sluice::server {

enum class CoordinationEngine { automatic, memory, database, redis };

constexpr auto enum_names(CoordinationEngine) {
  return std::to_array<EnumName<CoordinationEngine>>({{CoordinationEngine::automatic, "auto"},
                                                      {CoordinationEngine::memory, "memory"},
                                                      {CoordinationEngine::database, "database"},
                                                      {CoordinationEngine::redis, "redis"}});
}

// The choice for each kind of state.
struct CoordinationEngines {
  CoordinationEngine leases = CoordinationEngine::automatic;
  CoordinationEngine slots = CoordinationEngine::automatic;
  CoordinationEngine limits = CoordinationEngine::automatic;
  CoordinationEngine coalescing = CoordinationEngine::automatic;
  CoordinationEngine cache = CoordinationEngine::automatic;
  CoordinationEngine denylist = CoordinationEngine::automatic;

  static void describe(config::Section<CoordinationEngines>& section);
  void validate(config::Problems& problems) const;
};

struct CacheSettings {
  coordination::CacheConfig copies;
  int64_t memory_bytes = 64 << 20;

  static void describe(config::Section<CacheSettings>& section);
};

struct CoordinationSettings {
  CoordinationEngine engine = CoordinationEngine::automatic;
  CoordinationEngines engines;
  CacheSettings cache;

  static void describe(config::Section<CoordinationSettings>& section);

  // Replaces auto by the engine that the configured ones imply.
  CoordinationEngines resolved(bool has_postgres, bool has_redis) const;
};

}  // namespace sluice::server
