#include "coordination/shared_cache.h"

#include <algorithm>
#include <cmath>

#include <boost/asio/co_spawn.hpp>

#include "runtime/errors.h"
#include "runtime/log.h"
#include "runtime/metrics.h"
#include "runtime/retry.h"

namespace sluice::coordination {
namespace {

const metrics::Counter answers{"shared_cache_answers_total", "Results by source.", {"from"}};
const metrics::Counter failures{"shared_cache_store_failures_total", "Failed calls to the cache's store."};

auto& from_hand = answers.with({"hand"});
auto& from_store = answers.with({"store"});
auto& from_stale = answers.with({"stale"});
auto& from_loader = answers.with({"loader"});

// How a process waits for another's load: soon at first, then less often.
constexpr Backoff polling{.first = 20ms, .factor = 1.5, .max = 200ms};

}  // namespace

std::optional<CacheBody> SharedCache::peek(std::string_view key) {
  const std::optional<CachedCopy> copy = store_.peek(key);
  if (!copy || !copy->fresh()) return std::nullopt;
  from_hand.add();
  return copy->body;
}

Task<std::optional<CacheBody>> SharedCache::get(std::string key) {
  if (std::optional<CacheBody> body = peek(key)) co_return body;
  const TicketWish only_looking;
  CacheAnswer answer = co_await look_up(std::move(key), only_looking);
  if (!answer.copy) co_return std::nullopt;
  (answer.copy->fresh() ? from_store : from_stale).add();
  co_return std::move(answer.copy->body);
}

Task<CacheBody> SharedCache::load(std::string key, Loader loader) {
  const std::optional<CachedCopy> copy = store_.peek(key);
  if (copy && copy->fresh() && !ending(*copy)) {
    from_hand.add();
    co_return copy->body;
  }
  const auto work = [this, key, loader = std::move(loader)] { return find_or_load(key, loader); };
  co_return co_await loads_.run(std::move(key), work);
}

Task<CacheBody> SharedCache::find_or_load(std::string key, Loader loader) {
  const Instant until = clock_.now() + config_.wait_limit;
  for (unsigned tried = 0;; ++tried) {
    std::optional<CacheBody> body = co_await attempt(key, loader);
    if (body) co_return std::move(*body);
    const Duration delay = polling.delay(tried, random_);
    if (clock_.now() + delay >= until) throw DeadlineExceeded("load of a cached answer");
    co_await clock_.sleep_for(delay);
  }
}

Task<std::optional<CacheBody>> SharedCache::attempt(std::string key, Loader loader) {
  const TicketWish asked = wish();
  CacheAnswer answer = co_await look_up(key, asked);
  if (!answer.copy && !answer.ticket_granted) co_return std::nullopt;
  if (!answer.copy) co_return co_await load_under(std::move(key), asked.ticket, std::move(loader));
  (answer.copy->fresh() ? from_store : from_stale).add();
  if (answer.ticket_granted) scope_.spawn("cache renewal", renew(std::move(key), asked.ticket, std::move(loader)));
  co_return std::move(answer.copy->body);
}

Task<CacheBody> SharedCache::load_under(std::string key, LoadTicket ticket, Loader loader) {
  const Instant began = clock_.now();
  CacheBody body;
  std::exception_ptr failed;
  try {
    const Deadline deadline = Deadline::after(clock_, config_.load_limit);
    body = co_await with_deadline(clock_, deadline, "load of a cached answer", loader());
  } catch (...) {
    failed = std::current_exception();
  }
  if (failed) {
    try {
      co_await store_.give_up(key, ticket);
    } catch (const EngineUnavailable&) {
      failures.add();  // the ticket ends by itself
    }
    std::rethrow_exception(failed);
  }
  from_loader.add();
  const Duration cost = std::chrono::floor<Duration>(clock_.now() - began);
  co_await keep(std::move(key), ticket, entry(body, configured_ttl(body), cost));
  co_return body;
}

// Readers that asked before a removal may have the value; with a lost ticket it is just not stored.
Task<> SharedCache::keep(std::string key, LoadTicket ticket, CacheEntry entry) {
  try {
    co_await store_.fill(std::move(key), ticket, std::move(entry));
  } catch (const EngineUnavailable&) {
    failures.add();
  }
}

Task<> SharedCache::renew(std::string key, LoadTicket ticket, Loader loader) {
  try {
    co_await load_under(key, ticket, std::move(loader));
  } catch (const boost::system::system_error&) {
    throw;  // cancelled
  } catch (const std::exception& error) {
    log::warning("renewing a cached result failed", {{"key", key}, {"error", error.what()}});
  }
}

Task<CacheAnswer> SharedCache::look_up(std::string key, TicketWish wish) {
  try {
    co_return co_await store_.look_up(std::move(key), wish);
  } catch (const EngineUnavailable&) {
    failures.add();
  }
  // Without a store each process is on its own.
  co_return CacheAnswer{std::nullopt, wish.ticket != 0};
}

Task<> SharedCache::put(std::string key, CacheBody body, std::optional<Duration> ttl) {
  const Duration lasts = ttl.value_or(configured_ttl(body));
  co_await asio::co_spawn(executor_, replace(std::move(key), std::move(body), lasts), asio::use_awaitable);
}

// A load in flight may have read the outdated value: later callers do not share it.
Task<> SharedCache::remove(std::string key) {
  co_await store_.remove(key);
  loads_.leave(key);
}

Task<> SharedCache::replace(std::string key, CacheBody body, Duration ttl) {
  co_await store_.put(key, entry(std::move(body), ttl, Duration{0}));
  loads_.leave(key);
}

// A renewal six times earlier than its cost comes up once in 400 looks; before that there is no need to throw the dice.
bool SharedCache::ending(const CachedCopy& copy) const {
  constexpr double hardly_ever = 6;
  return static_cast<double>(copy.fresh_for.count()) <
         static_cast<double>(copy.load_cost.count()) * config_.eagerness * hardly_ever;
}

// Optimal early renewal by chance: Vattani, Chierichetti, Lowenstein, "Optimal Probabilistic Cache Stampede
// Prevention", VLDB 2015.
TicketWish SharedCache::wish() {
  const LoadTicket ticket = std::max<LoadTicket>(1, random_.next());
  return {ticket, config_.load_limit, config_.eagerness * -std::log(chance())};
}

CacheEntry SharedCache::entry(CacheBody body, Duration ttl, Duration load_cost) {
  const auto shortened = static_cast<int64_t>(static_cast<double>(ttl.count()) * (1 - config_.jitter * chance()));
  return {std::move(body), Duration{shortened}, config_.stale_for, load_cost};
}

double SharedCache::chance() {
  constexpr uint64_t steps = uint64_t{1} << 53;
  return static_cast<double>(random_.below(steps) + 1) / static_cast<double>(steps);
}

}  // namespace sluice::coordination
