// Which engine keeps which kind of shared state.
//
// `engine` chooses for all kinds; `engines` for one. Left alone, everything goes to Redis where there is one, else to
// PostgreSQL where there is one, else it stays in the memory of the one process, journaled where losing it would
// matter. Copies and coalescing are never kept in a database: where `engine` says so they stay in memory, each process
// its own.
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
