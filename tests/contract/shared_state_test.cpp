// The engine that `CoordinationSettings` selects keeps the state.
#include "server/shared_state.h"

#include <boost/asio/use_future.hpp>

#include "adapters/postgres/migrations.h"
#include "adapters/postgres/postgres_setup.h"
#include "runtime/system_clock.h"
#include "server/system_random.h"
#include "tests/contract/task_fixture.h"
#include "tests/support/needs.h"
#include "tests/support/postgres_server.h"
#include "tests/support/redis_server.h"
#include "tests/support/temporary_folder.h"

namespace sluice::server {
namespace {

// A process of an installation, as far as it shares state with others.
class Instance {
 public:
  Instance(const Settings& settings, asio::io_context& io)
      : engines_(settings, {Service::accounts, Service::documents, Service::jobs}, clock_),
        scope_(io.get_executor()),
        state_(settings, engines_, clock_, random_, scope_, io.get_executor()) {}

  SharedState& state() { return state_; }
  Task<> close() {
    co_await scope_.close();
    co_await state_.close();
  }

 private:
  SystemClock clock_;
  SystemRandom random_;
  Engines engines_;
  TaskScope scope_;
  SharedState state_;
};

Task<coordination::CacheBody> load_text(std::string text) {
  co_return std::make_shared<const std::string>(std::move(text));
}

coordination::LimitPlan plan_of(const std::string& name, int64_t most) {
  return {.name = name,
          .window = {{.name = "all", .most = most, .per = 10min}},
          .priority = {{.name = "ANY", .windows = {"all"}}}};
}

class SharedStateTest : public test::TaskFixture {
 protected:
  Settings settings(const std::string& data) {
    Settings made;
    made.storage.data = (folder_ / data).string();
    return made;
  }
  // Its limits do not pass, however long this machine lets it stand still.
  static redis::RedisConfig patient(const test::RedisServer& server) {
    return {.url = server.url(), .connect_timeout = 30s, .command_timeout = 30s};
  }
  Instance& open(const Settings& settings) { return *open_.emplace_back(std::make_unique<Instance>(settings, io_)); }
  void TearDown() override {
    for (const auto& instance : open_) run(instance->close());
    open_.clear();
  }

  bool takes_lease(Instance& instance, Service service = Service::documents) {
    coordination::Leases& leases = instance.state().leases(service);
    return run(leases.acquire("feature:lease", "me", 1min)).has_value();
  }
  bool takes_slot(Instance& instance, Service service = Service::documents) {
    return run(instance.state().slots(service).take("feature:slot", 1, "me", 1min)).has_value();
  }
  std::string loads(Instance& instance, const std::string& text) {
    const auto loader = [text] { return load_text(text); };
    return *run(instance.state().cache().load("feature:copy", loader));
  }

  // A server with the schemas and logins of every service, as `sluice migrate` leaves it.
  Settings migrated(const test::PostgresServer& server) {
    Settings made;
    made.postgres.common.url = server.url();
    made.postgres.common.password = "secret";
    made.postgres.admin_password = server.password();
    postgres::SetupConfig config{.admin = made.postgres.admin_of(Service::accounts), .services = {}};
    for (const std::string_view name : postgres::service_names)
      config.services.push_back({std::string(name), "secret"});
    SystemClock clock;
    postgres::EngineThread thread;
    postgres::PostgresSetup setup(config, thread, clock);
    run(setup.create_services());
    run(setup.migrate(postgres::migrations()));
    return made;
  }

  test::TemporaryFolder folder_;
  std::vector<std::unique_ptr<Instance>> open_;
};

TEST_F(SharedStateTest, left_alone_an_embedded_server_keeps_it_in_memory_and_in_its_journal) {
  const Settings embedded = settings("a");
  {
    Instance& first = open(embedded);
    EXPECT_EQ(first.state().chosen().leases, CoordinationEngine::memory);
    EXPECT_TRUE(takes_lease(first));
    EXPECT_TRUE(takes_slot(first));
    EXPECT_EQ(first.state().denial_copy(), nullptr);
    TearDown();
  }
  Instance& restarted = open(embedded);
  EXPECT_FALSE(takes_lease(restarted));
  EXPECT_FALSE(takes_slot(restarted));
}

TEST_F(SharedStateTest, in_a_database_each_service_has_its_own_and_copies_stay_in_memory) {
  Settings in_database = settings("a");
  in_database.coordination.engine = CoordinationEngine::database;
  Instance& one = open(in_database);
  EXPECT_EQ(one.state().chosen().cache, CoordinationEngine::memory);
  EXPECT_EQ(one.state().chosen().coalescing, CoordinationEngine::memory);
  EXPECT_TRUE(takes_lease(one));
  EXPECT_FALSE(takes_lease(one));
  EXPECT_TRUE(takes_slot(one));
  coordination::SharedLimit& limit = one.state().limit(Service::documents, plan_of("feature", 5));
  EXPECT_GT(run(limit.draw(0, 1, 1)).wait, 9min);  // forgotten permits are spent
  EXPECT_EQ(loads(one, "loaded"), "loaded");
}

TEST_F(SharedStateTest, on_postgresql_without_redis_every_service_shares_its_own_between_instances) {
  SLUICE_NEEDS(test::PostgresServer::why_missing(15));
  const test::PostgresServer server;
  const Settings in_postgres = migrated(server);
  Instance& one = open(in_postgres);
  Instance& two = open(in_postgres);
  EXPECT_EQ(one.state().chosen().leases, CoordinationEngine::database);
  for (const Service service : {Service::accounts, Service::documents, Service::jobs}) {
    SCOPED_TRACE(names(service).role);
    EXPECT_TRUE(takes_lease(one, service));
    EXPECT_FALSE(takes_lease(two, service));
    EXPECT_TRUE(takes_slot(two, service));
    EXPECT_FALSE(takes_slot(one, service));
    coordination::SharedLimit& limit = one.state().limit(service, plan_of("feature", 5));
    EXPECT_GT(run(limit.draw(0, 1, 1)).wait, 9min);  // forgotten permits are spent
  }
}

TEST_F(SharedStateTest, in_redis_instances_share_it) {
  SLUICE_NEEDS(test::RedisServer::why_missing());
  test::RedisServer server;
  Settings first = settings("a");
  first.redis = patient(server);
  Settings second = settings("b");
  second.redis = patient(server);
  Instance& one = open(first);
  Instance& two = open(second);
  EXPECT_EQ(one.state().chosen().limits, CoordinationEngine::redis);
  EXPECT_TRUE(takes_lease(one));
  EXPECT_FALSE(takes_lease(two));
  EXPECT_TRUE(takes_slot(two));
  EXPECT_FALSE(takes_slot(one));
  EXPECT_EQ(loads(one, "first"), "first");
  EXPECT_EQ(loads(two, "second"), "first");
  ASSERT_NE(one.state().denial_copy(), nullptr);
  run(one.state().denial_copy()->add({{"token", Time::max()}}));
  EXPECT_EQ(run(two.state().denial_copy()->ask("token")), coordination::Denied::yes);
}

TEST_F(SharedStateTest, one_kind_can_be_kept_elsewhere_than_the_rest) {
  SLUICE_NEEDS(test::RedisServer::why_missing());
  test::RedisServer server;
  Settings mixed = settings("a");
  mixed.redis = patient(server);
  mixed.coordination.engines.leases = CoordinationEngine::memory;
  Instance& one = open(mixed);
  EXPECT_TRUE(takes_lease(one));
  server.wipe();
  EXPECT_FALSE(takes_lease(one));
  EXPECT_TRUE(takes_slot(one));
  server.wipe();
  EXPECT_TRUE(takes_slot(one));
}

}  // namespace
}  // namespace sluice::server
