// sluice-services: the tests' private servers by hand (./dev services up pg).
//
// Starts the requested servers, prints the lines for sluice.toml and runs until Ctrl-C; then everything is gone.
#include <algorithm>
#include <optional>
#include <string_view>

#include <fmt/core.h>
#include <signal.h>

#include "tests/support/kafka_cluster.h"
#include "tests/support/pgbouncer_server.h"
#include "tests/support/postgres_server.h"
#include "tests/support/redis_cluster.h"

namespace {

constexpr const char* usage = R"(usage: sluice-services up pg|pg18|pgbouncer|redis|redis-cluster|kafka|kafka-cluster

  pg             a private PostgreSQL 15 on a free port
  pg18           the same with PostgreSQL 18
  pgbouncer      PostgreSQL 15 behind PgBouncer in transaction mode
  redis          a private Redis on a free port
  redis-cluster  a Redis Cluster of three masters and three replicas
  kafka          a private Apache Kafka on a free port
  kafka-cluster  three Kafka brokers

Prints what to put into sluice.toml and runs until Ctrl-C. The data is gone afterwards.
example: sluice-services up pg
)";

// Passwords go into the environment: sluice.toml holds no secrets.
void print_settings(const sluice::test::PostgresServer& postgres, const std::string& url) {
  fmt::print(
      "# sluice.toml\n"
      "[postgres]\n"
      "url = \"{}\"\n"
      "\n"
      "# environment of `sluice migrate` (makes the schemas and their logins) and `sluice serve`\n"
      "export SLUICE_POSTGRES_ADMIN_USER=\"{}\"\n"
      "export SLUICE_POSTGRES_ADMIN_PASSWORD=\"{}\"\n"
      "export SLUICE_POSTGRES_PASSWORD=\"services\"\n"
      "\n"
      "# running; Ctrl-C ends it and removes the data\n",
      url, postgres.user(), postgres.password());
  std::fflush(stdout);
}

void print_redis_settings(const std::string& url, bool cluster) {
  fmt::print(
      "# sluice.toml\n"
      "[redis]\n"
      "url = \"{}\"\n"
      "cluster = {}\n"
      "\n"
      "# running; Ctrl-C ends it and removes the data\n",
      url, cluster);
  std::fflush(stdout);
}

void print_kafka_settings(const std::string& brokers) {
  fmt::print(
      "# sluice.toml\n"
      "[kafka]\n"
      "brokers = \"{}\"\n"
      "\n"
      "# running; Ctrl-C ends it and removes the data\n",
      brokers);
  std::fflush(stdout);
}

void wait_for_stop_signal(const sigset_t& stop) {
  int received = 0;
  sigwait(&stop, &received);
}

void run_postgres(std::string_view what, const sigset_t& stop) {
  sluice::test::PostgresServer postgres({.version = what == "pg18" ? 18 : 15, .durable = true});
  std::optional<sluice::test::PgBouncerServer> pgbouncer;
  if (what == "pgbouncer") pgbouncer.emplace(postgres);
  print_settings(postgres, pgbouncer ? pgbouncer->url() : postgres.url());
  wait_for_stop_signal(stop);
}

void run_redis(const sigset_t& stop) {
  const sluice::test::RedisServer redis({.durable = true});
  print_redis_settings(redis.url(), false);
  wait_for_stop_signal(stop);
}

void run_redis_cluster(const sigset_t& stop) {
  const sluice::test::RedisCluster cluster;
  print_redis_settings(cluster.url(), true);
  wait_for_stop_signal(stop);
}

void run_kafka(const sigset_t& stop) {
  const sluice::test::KafkaBroker kafka;
  print_kafka_settings(kafka.address());
  wait_for_stop_signal(stop);
}

void run_kafka_cluster(const sigset_t& stop) {
  const sluice::test::KafkaCluster cluster;
  print_kafka_settings(cluster.addresses());
  wait_for_stop_signal(stop);
}

void up(std::string_view what) {
  // Blocked before any thread starts, so that all inherit it and sigwait alone sees them.
  sigset_t stop;
  sigemptyset(&stop);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&stop, number);
  pthread_sigmask(SIG_BLOCK, &stop, nullptr);

  if (what == "redis") return run_redis(stop);
  if (what == "redis-cluster") return run_redis_cluster(stop);
  if (what == "kafka") return run_kafka(stop);
  if (what == "kafka-cluster") return run_kafka_cluster(stop);
  run_postgres(what, stop);
}

bool known(std::string_view what) {
  constexpr std::string_view all[] = {"pg", "pg18", "pgbouncer", "redis", "redis-cluster", "kafka", "kafka-cluster"};
  return std::ranges::find(all, what) != std::end(all);
}

}  // namespace

int main(int count, char** arguments) {
  const std::string_view what = count == 3 ? arguments[2] : "";
  if (count == 2 && std::string_view(arguments[1]) == "--help") {
    fmt::print("{}", usage);
    return 0;
  }
  if (count != 3 || std::string_view(arguments[1]) != "up" || !known(what)) {
    fmt::print(stderr, "{}", usage);
    return 2;
  }
  try {
    up(what);
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "sluice-services: {}\n", error.what());
    return 1;
  }
}
