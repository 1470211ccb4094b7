// Expensive results, loaded once for all callers.
//
//   const CacheBody body = co_await cache.load("product/17", [&] { return catalog.render(17); });
//
// One loader runs per key, in the process and over all instances; other callers wait for it or get the stale copy. A
// copy is renewed a little before it ends, at random and the earlier the more expensive it was, so that no crowd ever
// finds it gone. A loader's failure is not a result: it is not cached, and a stale copy is served while there is one.
// "No value" is a result, cached for its own time.
//
// A value read before a removal is never kept after it. In this process no caller after `remove` returned gets it
// either; in other instances callers that share a load begun before it may.
//
// If the store is unavailable every process loads for itself, once per key at a time, and nothing is kept.
#pragma once

#include <functional>
#include <string>

#include "base/random.h"
#include "coordination/cache_store.h"
#include "coordination/single_flight.h"
#include "runtime/config_fwd.h"

namespace sluice::coordination {

struct CacheConfig {
  Duration ttl = 5min;
  double jitter = 0.1;
  Duration stale_for = 1min;
  Duration negative_ttl = 30s;
  Duration load_limit = 10s;
  Duration wait_limit = 5s;
  double eagerness = 1;

  static void describe(config::Section<CacheConfig>& section);
};

// All methods may be called from any thread; loaders run on the executor.
class SharedCache {
 public:
  // Returns null if there is no value; exceptions of the source pass through. It may run after its call has returned
  // (for a renewal, or because the caller disconnected), so it owns the objects it uses.
  using Loader = std::function<Task<CacheBody>()>;

  // `random` is used on the executor only; `scope` belongs to it.
  SharedCache(CacheStore& store, CacheConfig config, Clock& clock, Random& random, TaskScope& scope, Executor executor)
      : store_(store),
        config_(config),
        clock_(clock),
        random_(random),
        scope_(scope),
        executor_(executor),
        loads_(scope, executor) {}

  // A fresh copy in the memory of this process.
  std::optional<CacheBody> peek(std::string_view key);

  // A copy, fresh or stale, without loading one. Nothing also if the store is unavailable.
  Task<std::optional<CacheBody>> get(std::string key);

  // The copy, or the result of `loader`. Throws DeadlineExceeded if another instance's load lasts beyond wait_limit.
  Task<CacheBody> load(std::string key, Loader loader);

  // Both throw EngineUnavailable if the store is unavailable: an old copy may then still be served. Without a `ttl` the
  // configured one is used; either is shortened by its jitter.
  Task<> put(std::string key, CacheBody body, std::optional<Duration> ttl = std::nullopt);
  Task<> remove(std::string key);

 private:
  Task<CacheBody> find_or_load(std::string key, Loader loader);
  // One lookup in the store and its consequences; nothing if another caller loads and there is no copy.
  Task<std::optional<CacheBody>> attempt(std::string key, Loader loader);
  Task<CacheBody> load_under(std::string key, LoadTicket ticket, Loader loader);
  Task<> renew(std::string key, LoadTicket ticket, Loader loader);
  Task<CacheAnswer> look_up(std::string key, TicketWish wish);
  Task<> keep(std::string key, LoadTicket ticket, CacheEntry entry);
  Task<> replace(std::string key, CacheBody body, Duration ttl);

  bool ending(const CachedCopy& copy) const;
  TicketWish wish();
  Duration configured_ttl(const CacheBody& body) const { return body ? config_.ttl : config_.negative_ttl; }
  CacheEntry entry(CacheBody body, Duration ttl, Duration load_cost);
  double chance();

  CacheStore& store_;
  CacheConfig config_;
  Clock& clock_;
  Random& random_;
  TaskScope& scope_;
  Executor executor_;
  SingleFlight<CacheBody> loads_;
};

}  // namespace sluice::coordination
