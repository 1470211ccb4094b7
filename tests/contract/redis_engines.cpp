#include "tests/contract/redis_engines.h"

#include "tests/support/needs.h"

namespace sluice::test {
namespace {

redis::RedisConfig config_of(std::string url, bool cluster) {
  // These machines are shared: a slow answer is not a lost one here. The breaker has tests of its own.
  redis::RedisConfig config{.url = std::move(url), .cluster = cluster, .connect_timeout = 10s, .command_timeout = 10s};
  config.breaker.open_for = 100ms;
  return config;
}

void replace_single_server(const std::string&) {
  shared_redis().kill();
  shared_redis().start_empty();
}

void replace_master_of(const std::string& key) {
  RedisCluster& cluster = shared_redis_cluster();
  RedisServer& master = cluster.master_of(key);
  master.kill();
  cluster.fail_over(master);
  master.start();
  cluster.wait_until_healthy();
}

void wipe_cluster() {
  RedisCluster& cluster = shared_redis_cluster();
  for (size_t i = 0; i < cluster.size(); ++i) {
    if (cluster.node(i).cli({"ROLE"}).starts_with("master")) cluster.node(i).wipe();
  }
}

}  // namespace

RedisServer& shared_redis() {
  static RedisServer server;
  return server;
}

RedisCluster& shared_redis_cluster() {
  static RedisCluster cluster;
  return cluster;
}

std::vector<RedisEngine> redis_engines() {
  if (RedisServer::why_missing()) return {};
  return {{.name = "redis",
           .config = [] { return config_of(shared_redis().url(), false); },
           .wipe = [] { shared_redis().wipe(); },
           .replace_server_of = replace_single_server},
          {.name = "redis_cluster",
           .config = [] { return config_of(shared_redis_cluster().url(), true); },
           .wipe = wipe_cluster,
           .replace_server_of = replace_master_of}};
}

// Suites that are instantiated with no engine at all would pass silently.
TEST(RedisEngines, can_be_had) {
  SLUICE_NEEDS(RedisServer::why_missing());
  EXPECT_EQ(redis_engines().size(), 2U);
}

}  // namespace sluice::test
