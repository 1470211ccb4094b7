// The primitives of coordination on the selected engines. No feature of the program uses it yet; tests do.
//
// A feature asks for the parts it needs when it is wired. State in a database is in the database of its own service;
// state in Redis or in memory is shared by all features, so keys begin with the feature's name.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "adapters/redis/coordination/redis_cache.h"
#include "coordination/coalescing.h"
#include "coordination/denial_copy.h"
#include "coordination/leases.h"
#include "coordination/shared_cache.h"
#include "coordination/shared_limit.h"
#include "coordination/slots.h"
#include "server/engines.h"

namespace sluice::server {

// Everything is created at start, on one thread; the returned objects live as long as it does.
class SharedState {
 public:
  // `scope` belongs to `executor`. References must outlive it.
  SharedState(const Settings& settings, Engines& engines, Clock& clock, Random& random, TaskScope& scope,
              Executor executor);
  ~SharedState();

  coordination::Leases& leases(Service service);
  coordination::Slots& slots(Service service);
  coordination::SharedLimit& limit(Service service, coordination::LimitPlan plan);
  // `floors` are asked for this process' run where coalescing is in memory.
  Task<coordination::Coalescing*> coalescing(coordination::VersionFloors& floors, coordination::CoalescingPlan plan,
                                             std::string name);
  coordination::SharedCache& cache() { return *cache_; }
  // Null where every process follows the database by itself.
  coordination::DenialCopy* denial_copy() { return denial_copy_.get(); }

  // The selected engines, for the log.
  const CoordinationEngines& chosen() const { return chosen_; }

  // Stops listening for changes. On the executor, after the scope was closed.
  Task<> close();

 private:
  std::unique_ptr<coordination::Leases> make_leases(Service service);
  std::unique_ptr<coordination::Slots> make_slots(Service service);
  void make_cache(const Settings& settings, TaskScope& scope);

  Engines& engines_;
  Clock& clock_;
  Random& random_;
  Executor executor_;
  CoordinationEngines chosen_;
  // By service in a database, else one for all.
  std::map<Service, std::unique_ptr<coordination::Leases>> leases_;
  std::map<Service, std::unique_ptr<coordination::Slots>> slots_;
  std::vector<std::unique_ptr<coordination::SharedLimit>> limits_;
  std::vector<std::unique_ptr<coordination::Coalescing>> coalescings_;
  std::vector<std::unique_ptr<coordination::CacheStore>> cache_stores_;
  std::unique_ptr<redis::RedisCacheChanges> cache_changes_;
  std::unique_ptr<redis::Subscriber> subscriber_;
  std::unique_ptr<coordination::SharedCache> cache_;
  std::unique_ptr<coordination::DenialCopy> denial_copy_;
};

}  // namespace sluice::server
