#include "adapters/redis/coordination/redis_leases.h"

#include <future>

#include <boost/asio/use_future.hpp>

#include "adapters/redis/coordination/redis_slots.h"
#include "runtime/metrics.h"
#include "tests/contract/leases_suite.h"
#include "tests/contract/redis_engines.h"
#include "tests/contract/slots_suite.h"
#include "tests/support/needs.h"

namespace sluice::test {
namespace {

template <class Port, class Adapter>
class InRedis : public OpenPort<Port> {
 public:
  InRedis(const RedisEngine& engine, asio::io_context& io) : open_(engine, io), adapter_(open_.redis()) {}
  Port& port() override { return adapter_; }
  Task<> close() override { return open_.close(); }

  static std::vector<PortEngine<Port>> engines() {
    std::vector<PortEngine<Port>> all;
    for (const RedisEngine& engine : redis_engines()) {
      all.push_back({.name = engine.name,
                     .open = [engine](asio::io_context& io) { return std::make_unique<InRedis>(engine, io); }});
    }
    return all;
  }

 private:
  OpenRedis open_;
  Adapter adapter_;
};

const auto leases = testing::ValuesIn(InRedis<coordination::Leases, redis::RedisLeases>::engines());
const auto slots = testing::ValuesIn(InRedis<coordination::Slots, redis::RedisSlots>::engines());

std::vector<RedisEngine> clusters() {
  std::vector<RedisEngine> engines = redis_engines();
  std::erase_if(engines, [](const RedisEngine& engine) { return engine.name != "redis_cluster"; });
  return engines;
}

// Faults that only Redis has.
class RedisLosses : public TaskFixture, public testing::WithParamInterface<RedisEngine> {
 protected:
  void SetUp() override {
    open_.emplace(GetParam(), io_);
    leases_.emplace(open_->redis());
    slots_.emplace(open_->redis());
    key_ = unique("lossy");
  }
  void TearDown() override { run(open_->close()); }

  // Calls `ask` again and again while the server of `place` is replaced, and until it has answered once more.
  // Nothing but EngineUnavailable may come out of it.
  template <class Ask>
  void while_replaced(const std::string& place, Ask ask) {
    const auto answered = [&ask] {
      try {
        ask();
        return true;
      } catch (const EngineUnavailable&) {
        return false;
      }
    };
    auto replaced = std::async(std::launch::async, GetParam().replace_server_of, place);
    while (replaced.wait_for(0s) != std::future_status::ready) answered();
    replaced.get();
    EXPECT_TRUE(eventually(answered));
  }

  std::optional<OpenRedis> open_;
  std::optional<redis::RedisLeases> leases_;
  std::optional<redis::RedisSlots> slots_;
  std::string key_;
};

TEST_P(RedisLosses, tokens_of_leases_grow_also_when_redis_forgets_them) {
  const auto before = run(leases_->acquire(key_, "me", 1min)).value();
  GetParam().wipe();
  const auto after = run(leases_->acquire(key_, "somebody else", 1min)).value();
  EXPECT_GT(after, before);
  EXPECT_TRUE(run(leases_->renew({{key_, before}}, 1min)).renewed.empty()) << "the first holder learns of it";
}

TEST_P(RedisLosses, leases_go_on_by_themselves_when_their_server_is_replaced) {
  coordination::LeaseToken last = 0;
  while_replaced(redis::RedisLeases::place_of(key_), [&] {
    const auto token = run(leases_->acquire(key_, "me", 20ms));
    if (!token) return;
    EXPECT_GT(*token, last);
    last = *token;
  });
}

TEST_P(RedisLosses, tokens_of_slots_grow_also_when_redis_forgets_them) {
  const auto before = run(slots_->take(key_, 1, "me", 1min)).value();
  GetParam().wipe();
  const auto after = run(slots_->take(key_, 1, "somebody else", 1min)).value();
  EXPECT_GT(after.token, before.token);
  EXPECT_FALSE(run(slots_->renew(before, 1min)));
}

// One after the other, each tag of a server that does not answer would cost its whole patience.
TEST(RedisLeasesAlone, of_many_tags_are_renewed_together) {
  SLUICE_NEEDS(RedisServer::why_missing());
  RedisServer server;
  asio::io_context io;
  SystemClock clock;
  redis::Redis client({.url = server.url(), .connect_timeout = 30s, .command_timeout = 30s}, io.get_executor(), clock);
  redis::RedisLeases held(client);
  std::vector<coordination::Lease> all;
  const auto finish = [&io](auto ended) {
    while (ended.wait_for(0s) != std::future_status::ready) io.run_one();
    return ended.get();
  };
  for (int i = 0; i < 300; ++i) {
    const std::string key = fmt::format("key {}", i);
    all.push_back({key, finish(asio::co_spawn(io, held.acquire(key, "me", 1min), asio::use_future)).value()});
  }
  server.pause();
  auto renewing = asio::co_spawn(io, held.renew(all, 1min), asio::use_future);
  while (io.poll() > 0) {
  }
  EXPECT_TRUE(metrics::expose().contains("redis_pending_commands 64\n")) << "one for each tag";
  server.resume();
  EXPECT_EQ(finish(std::move(renewing)).renewed.size(), 300U);
  auto closing = asio::co_spawn(io, client.close(), asio::use_future);
  while (closing.wait_for(0s) != std::future_status::ready) io.run_one();
}

// A replica takes over. (A single server that is replaced forgets its slots.)
class RedisFailover : public RedisLosses {};

// A slot that an owner certainly had: from the answer until it ended.
struct Held {
  std::chrono::steady_clock::time_point from, to;
};

size_t most_at_once(const std::vector<Held>& held) {
  size_t most = 0;
  for (const Held& one : held) {
    const auto at_once =
        std::ranges::count_if(held, [&](const Held& other) { return other.from <= one.from && one.from < other.to; });
    most = std::max(most, static_cast<size_t>(at_once));
  }
  return most;
}

TEST_P(RedisFailover, gives_nobody_too_many_slots_and_keeps_those_the_replica_knows) {
  constexpr size_t n = 3;
  constexpr Duration ttl = 300ms;
  const std::string busy = "{" + key_ + "} busy";
  const std::string calm = "{" + key_ + "} calm";
  const auto kept = run(slots_->take(calm, n, "me", 1min)).value();
  std::vector<Held> held;
  const auto take_one = [&] {
    const auto asked = std::chrono::steady_clock::now();
    const auto slot = run(slots_->take(busy, n, "me", ttl));
    if (slot) held.push_back({std::chrono::steady_clock::now(), asked + ttl});
    return slot.has_value();
  };
  ASSERT_TRUE(eventually([&] {
    take_one();
    return held.size() >= n;
  }));
  while_replaced(redis::RedisSlots::place_of(busy), take_one);
  EXPECT_TRUE(eventually(take_one)) << "it goes on by itself";
  EXPECT_LE(most_at_once(held), n);

  EXPECT_FALSE(run(slots_->take(calm, n, "somebody else", 1min))) << "what the replica has not heard of may be in use";
  EXPECT_TRUE(run(slots_->renew(kept, 1min)));
}

}  // namespace

INSTANTIATE_TEST_SUITE_P(Redis, LeasesContract, leases, port_engine_name);
INSTANTIATE_TEST_SUITE_P(Redis, SlotsContract, slots, port_engine_name);
INSTANTIATE_TEST_SUITE_P(Redis, RedisLosses, testing::ValuesIn(redis_engines()), redis_engine_name);
INSTANTIATE_TEST_SUITE_P(Redis, RedisFailover, testing::ValuesIn(clusters()), redis_engine_name);

}  // namespace sluice::test
