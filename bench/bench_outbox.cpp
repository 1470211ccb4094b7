// bench_outbox: how fast changes are told.
//
// Delay: one change at a time; from the commit of its outbox row until a consumer has the message, with the relay in
// the same process. Throughput: a relay that works off a backlog, against a bare loop that reads 100 rows, produces
// them, waits for the acknowledgements and marks them, with libpq, librdkafka and no leases, buckets or fences; the
// same PostgreSQL (fsync on) and Kafka, the same rows of 1 KB, in rotation; medians and their ratio. Held: the relay
// again and again while one transaction stays open, so that nothing it publishes can be cleaned up, and the same
// without one. `bench_outbox held` measures only that.
#include <algorithm>
#include <cstdio>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <fmt/format.h>
#include <libpq-fe.h>
#include <librdkafka/rdkafka.h>

#include "adapters/kafka/kafka_log.h"
#include "adapters/postgres/migrations.h"
#include "adapters/postgres/postgres_database.h"
#include "adapters/postgres/postgres_setup.h"
#include "adapters/sql/messaging/outbox.h"
#include "adapters/sql/messaging/sql_outbox_store.h"
#include "messaging/consumer.h"
#include "messaging/outbox_relay.h"
#include "runtime/log.h"
#include "runtime/system_clock.h"
#include "tests/support/kafka_broker.h"
#include "tests/support/postgres_server.h"

namespace sluice {
namespace {

constexpr int rows = 20'000;
constexpr int rounds = 3;
constexpr int changes = 300;
constexpr int backlogs = 9;  // one after the other beside a held transaction
constexpr const char* topic = "bench.events";
constexpr const char* password = "bench";

// 2,000 aggregates take turns.
constexpr sql::Statement fill_outbox =
    "SELECT common.append_outbox(gen_random_uuid(), 'bench.events', 'bench', (number % 2000)::text, number, 'Changed', "
    "  convert_to(repeat('x', 1000), 'UTF8'), '{}') FROM generate_series(1, 20000) AS series (number)";
constexpr const char* make_bare =
    "CREATE TABLE bare (id bigserial PRIMARY KEY, key text, payload text, published boolean NOT NULL DEFAULT false); "
    "CREATE INDEX bare_unpublished ON bare (id) WHERE NOT published";
constexpr const char* fill_bare =
    "INSERT INTO bare (key, payload) SELECT (number % 2000)::text, repeat('x', 1000) "
    "FROM generate_series(1, 20000) AS series (number)";
constexpr const char* read_bare = "SELECT id, key, payload FROM bare WHERE NOT published ORDER BY id LIMIT 100";
constexpr const char* mark_bare = "UPDATE bare SET published = true WHERE id = ANY ($1)";

struct World {
  test::PostgresServer server{{.durable = true, .settings = {"shared_buffers=256MB"}}};
  test::KafkaBroker broker{{.fast = true}};
  SystemClock clock{};
  SeededRandom random{1};
  postgres::EngineThread thread{};
  asio::io_context io{};

  template <class Value>
  Value run(Task<Value> task) {
    std::optional<std::exception_ptr> ended;
    std::optional<Value> result;
    asio::co_spawn(io, std::move(task), [&](std::exception_ptr error, Value value) {
      ended = error;
      result = std::move(value);
    });
    io.restart();
    while (!ended) io.run_one();
    if (*ended) std::rethrow_exception(*ended);
    return std::move(*result);
  }
  void run(Task<> task) {
    std::optional<std::exception_ptr> ended;
    asio::co_spawn(io, std::move(task), [&](std::exception_ptr error) { ended = error; });
    io.restart();
    while (!ended) io.run_one();
    if (*ended) std::rethrow_exception(*ended);
  }
  std::unique_ptr<sql::Database> log_in(const std::string& user) {
    const postgres::PostgresConfig config{.url = server.url(), .user = user, .password = password};
    return std::make_unique<postgres::PostgresDatabase>(config, thread, clock);
  }
};

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

void set_up(World& world) {
  const postgres::SetupConfig config{
      .admin = {.url = world.server.url(), .user = world.server.user(), .password = world.server.password()},
      .services = {{"job_service", password}, {"common", password}},
      .statement_timeout = 2min};
  postgres::PostgresSetup setup(config, world.thread, world.clock);
  world.run(setup.create_services());
  std::vector<sql::MigrationSet> sets = postgres::migrations();
  std::erase_if(sets, [](const sql::MigrationSet& set) { return set.schema != "common"; });
  world.run(setup.migrate(sets));
}

// Counts marked rows, so that the database need not be asked.
class CountedStore : public sql::SqlOutboxStore {
 public:
  CountedStore(sql::Database& database, const Executor& executor) : SqlOutboxStore(database), more_(executor) {}

  Task<> mark_published(std::vector<messaging::OutboxMark> marks) override {
    const size_t count = marks.size();
    co_await SqlOutboxStore::mark_published(std::move(marks));
    marked_ += count;
    more_.notify_all();
  }

  size_t marked() const { return marked_; }
  Task<> until_marked(size_t goal) {
    while (marked_ < goal) co_await more_.wait();
  }

 private:
  size_t marked_ = 0;
  Wakeup more_;
};

// A relay, for as long as it lives.
class Relay {
 public:
  Relay(World& world, sql::Database& database, messaging::MessageLog& log)
      : world_(world),
        store_(database, world.io.get_executor()),
        relay_({store_, log, bell_, world.clock, world.random}, {}, fmt::format("relay {}", ++started_),
               world.io.get_executor()) {
    relay_.start();
  }
  ~Relay() { world_.run(relay_.stop()); }
  Relay(const Relay&) = delete;
  Relay& operator=(const Relay&) = delete;

  messaging::Bell& bell() { return bell_; }
  size_t marked() const { return store_.marked(); }
  Task<> until_marked(size_t goal) { return store_.until_marked(goal); }

 private:
  inline static int started_ = 0;
  World& world_;
  messaging::Bell bell_;
  CountedStore store_;
  messaging::OutboxRelay relay_;
};

sql::TxTask<> change_body(sql::Tx& tx, sql::Outbox outbox, messaging::OutboxMessage message) {
  co_await outbox.append(tx, std::move(message));
}

struct Arrivals {
  explicit Arrivals(const Executor& executor) : more(executor) {}

  std::map<messaging::MessageId, Instant> at;
  Wakeup more;
};

Task<messaging::Handled> note(Arrivals& arrivals, Clock& clock, messaging::Delivery delivery) {
  arrivals.at[delivery.message_id().value()] = clock.now();
  arrivals.more.notify_all();
  co_return messaging::Handled::done();
}

// Milliseconds from commit to arrival of one change.
Task<double> tell_one(World& world, sql::Database& service, sql::Outbox outbox, Arrivals& arrivals) {
  const auto id = messaging::MessageId::make(world.clock.wall(), world.random);
  const messaging::OutboxMessage message{.topic = topic,
                                         .aggregate_type = "bench",
                                         .aggregate_id = std::to_string(world.random.below(1000)),
                                         .aggregate_version = 1,
                                         .event_type = "Changed",
                                         .payload = std::string(1000, 'x'),
                                         .headers = {},
                                         .id = id};
  co_await service.transact(change_body, outbox, message);
  const Instant committed = world.clock.now();
  outbox.announce();
  while (!arrivals.at.contains(id)) co_await arrivals.more.wait();
  const auto took = std::chrono::duration<double, std::milli>(arrivals.at[id] - committed).count();
  const auto pause = Duration{static_cast<int64_t>(10'000 + world.random.below(20'000))};
  co_await world.clock.sleep_for(pause);
  co_return std::max(0.0, took);
}

void measure_delay(World& world, sql::Database& common, messaging::MessageLog& log) {
  const auto service = world.log_in("job_service");
  Arrivals arrivals(world.io.get_executor());
  messaging::Consumer consumer(
      {log, world.clock, world.random}, {}, {.group = "bench", .topics = {topic}, .worker = "bench"},
      [&](messaging::Delivery delivery) { return note(arrivals, world.clock, std::move(delivery)); },
      world.io.get_executor());
  consumer.start();
  {
    Relay relay(world, common, log);
    const sql::Outbox outbox(relay.bell());
    std::vector<double> delays;
    for (int i = 0; i < 30; ++i) world.run(tell_one(world, *service, outbox, arrivals));  // warm
    for (int i = 0; i < changes; ++i) delays.push_back(world.run(tell_one(world, *service, outbox, arrivals)));
    std::ranges::sort(delays);
    fmt::print("delay of one change, idle: p50 {:.1f} ms, p95 {:.1f} ms, p99 {:.1f} ms (of {})\n",
               delays[delays.size() / 2], delays[delays.size() * 95 / 100], delays[delays.size() * 99 / 100], changes);
  }
  world.run(consumer.stop());
}

double work_off(World& world, sql::Database& common, Relay& relay) {
  world.run(common.write(fill_outbox));
  relay.bell().ring();
  const size_t goal = relay.marked() + rows;
  const Instant start = world.clock.now();
  world.run(relay.until_marked(goal));
  return rows / std::chrono::duration<double>(world.clock.now() - start).count();
}

class PlainConnection {
 public:
  explicit PlainConnection(const test::PostgresServer& server) {
    const std::string url = server.url();
    const char* names[] = {"dbname", "user", "password", nullptr};
    const char* values[] = {url.c_str(), server.user().c_str(), server.password().c_str(), nullptr};
    pg_ = PQconnectdbParams(names, values, 1);
  }
  ~PlainConnection() { PQfinish(pg_); }
  PlainConnection(const PlainConnection&) = delete;
  PlainConnection& operator=(const PlainConnection&) = delete;

  PGresult* execute(const char* text, const std::vector<const char*>& values = {}) {
    PGresult* const result =
        PQexecParams(pg_, text, static_cast<int>(values.size()), nullptr, values.data(), nullptr, nullptr, 0);
    const ExecStatusType status = PQresultStatus(result);
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) throw std::runtime_error(PQerrorMessage(pg_));
    return result;
  }
  void run(const char* text) { PQclear(PQexec(pg_, text)); }

 private:
  PGconn* pg_;
};

class PlainProducer {
 public:
  explicit PlainProducer(const std::string& brokers) {
    rd_kafka_conf_t* const conf = rd_kafka_conf_new();
    for (const auto& [name, value] : std::map<std::string, std::string>{{"bootstrap.servers", brokers},
                                                                        {"acks", "all"},
                                                                        {"enable.idempotence", "true"},
                                                                        {"compression.type", "zstd"},
                                                                        {"partitioner", "murmur2"},
                                                                        {"linger.ms", "5"},
                                                                        {"batch.size", "1048576"}}) {
      rd_kafka_conf_set(conf, name.c_str(), value.c_str(), nullptr, 0);
    }
    producer_ = rd_kafka_new(RD_KAFKA_PRODUCER, conf, nullptr, 0);
    topic_ = rd_kafka_topic_new(producer_, topic, nullptr);
  }
  ~PlainProducer() {
    rd_kafka_topic_destroy(topic_);
    rd_kafka_destroy(producer_);
  }
  PlainProducer(const PlainProducer&) = delete;
  PlainProducer& operator=(const PlainProducer&) = delete;

  void produce(const char* key, size_t key_size, const char* payload, size_t size) {
    rd_kafka_produce(topic_, RD_KAFKA_PARTITION_UA, RD_KAFKA_MSG_F_COPY, const_cast<char*>(payload), size, key,
                     key_size, nullptr);
  }
  // Returns when all are acknowledged; does not wait for more to come.
  void flush() { rd_kafka_flush(producer_, 10'000); }

 private:
  rd_kafka_t* producer_;
  rd_kafka_topic_t* topic_;
};

double bare_rate(World& world, PlainConnection& connection, PlainProducer& producer) {
  connection.run(fill_bare);
  const Instant start = world.clock.now();
  for (int done = 0; done < rows;) {
    PGresult* const read = connection.execute(read_bare);
    const int count = PQntuples(read);
    std::string ids = "{";
    for (int i = 0; i < count; ++i) {
      producer.produce(PQgetvalue(read, i, 1), static_cast<size_t>(PQgetlength(read, i, 1)), PQgetvalue(read, i, 2),
                       static_cast<size_t>(PQgetlength(read, i, 2)));
      ids += fmt::format("{}{}", i == 0 ? "" : ",", PQgetvalue(read, i, 0));
    }
    ids += "}";
    PQclear(read);
    producer.flush();
    PQclear(connection.execute(mark_bare, {ids.c_str()}));
    done += count;
  }
  return rows / std::chrono::duration<double>(world.clock.now() - start).count();
}

void measure_rate(World& world, sql::Database& common, messaging::MessageLog& log) {
  PlainConnection connection(world.server);
  PlainProducer producer(world.broker.address());
  connection.run(make_bare);
  std::vector<double> ours;
  std::vector<double> bare;
  for (int round = 0; round < rounds; ++round) {
    bare.push_back(bare_rate(world, connection, producer));
    Relay relay(world, common, log);
    ours.push_back(work_off(world, common, relay));
  }
  fmt::print("backlog of {} rows: relay {:.0f}/s, bare loop {:.0f}/s, ratio {:.2f}\n", rows, median(ours), median(bare),
             median(ours) / median(bare));
}

// Rows a second of one backlog after the other, while `holder` has run the statement `held`.
std::vector<double> rates_while(World& world, sql::Database& common, messaging::MessageLog& log,
                                PlainConnection& holder, const char* held) {
  holder.run("TRUNCATE common.outbox_events");
  Relay relay(world, common, log);
  work_off(world, common, relay);
  holder.run(held);
  std::vector<double> rates;
  for (int round = 0; round < backlogs; ++round) rates.push_back(work_off(world, common, relay));
  holder.run("ROLLBACK");
  return rates;
}

void measure_held(World& world, sql::Database& common, messaging::MessageLog& log) {
  PlainConnection holder(world.server);
  double free = 0;
  // One that has read nothing yet keeps nothing from being cleaned up.
  for (const auto& [name, held] :
       {std::pair{"no transaction", "BEGIN"}, std::pair{"a writing transaction", "BEGIN; SELECT pg_current_xact_id()"},
        std::pair{"a reading one", "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1"}}) {
    const std::vector<double> rates = rates_while(world, common, log, holder, held);
    const double last = median({rates.end() - backlogs / 3, rates.end()});
    if (free == 0) free = last;
    fmt::print("{} held: {:.0f} rows/s; median of the last third {:.0f}, ratio to none {:.2f}\n", name,
               fmt::join(rates, ", "), last, last / free);
  }
}

void measure(bool only_held) {
  World world;
  set_up(world);
  const auto common = world.log_in("common");
  kafka::KafkaLog log({.brokers = world.broker.address()}, world.io.get_executor(), world.clock);
  world.run(log.declare({{topic, 12, 1h}, {"dead-letters", 1, 1h}}));
  if (!only_held) {
    measure_delay(world, *common, log);
    measure_rate(world, *common, log);
  }
  measure_held(world, *common, log);
  world.run(log.close());
}

}  // namespace
}  // namespace sluice

int main(int count, char** arguments) {
  sluice::log::start({.level = sluice::log::Level::error});
  if (const auto missing = sluice::test::KafkaBroker::why_missing()) {
    fmt::print(stderr, "{}\n", *missing);
    return 1;
  }
  sluice::measure(count > 1 && std::string_view(arguments[1]) == "held");
  sluice::log::stop();
}
