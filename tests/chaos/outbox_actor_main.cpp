// One process of outbox_kafka_test and outbox_redis_test: it changes aggregates, relays the outbox, or consumes what
// arrives, until SIGTERM.
//
//   outbox_actor writer|relay|consumer NAME POSTGRES_URL kafka|redis WHERE      (the passwords are in $PASSWORD)
//
// The name of a writer is the number of changes that it makes at once.
// Prints "ready" when it has begun.
#include <csignal>
#include <cstdio>
#include <cstdlib>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/use_future.hpp>

#include "adapters/sql/messaging/inbox.h"
#include "adapters/sql/messaging/outbox.h"
#include "adapters/sql/messaging/sql_outbox_store.h"
#include "messaging/consumer.h"
#include "messaging/outbox_relay.h"
#include "tests/chaos/outbox_actor.h"
#include "tests/chaos/outbox_tables.h"

namespace sluice::test {
namespace {

using messaging::Delivery;
using messaging::Handled;
using messaging::MessageId;
using messaging::OutboxMessage;

constexpr sql::Statement change_aggregate =
    "UPDATE aggregates SET version = version + 1 WHERE id = $1 RETURNING version";
constexpr sql::Statement note_change = "INSERT INTO changes (aggregate, version, message_id) VALUES ($1, $2, $3)";
constexpr sql::Statement take_time = "SELECT pg_sleep($1)";
constexpr sql::Statement note_effect = "INSERT INTO effects (aggregate, version, message_id) VALUES ($1, $2, $3)";

struct Actor {
  asio::io_context io{};
  SystemClock clock{};
  SeededRandom random{std::random_device{}()};
  postgres::EngineThread thread{};
  bool stopping = false;
};

void say(const char* line) {
  std::puts(line);
  std::fflush(stdout);
}

// The world changed its mind.
struct Regret : std::exception {};

struct Change {
  std::string aggregate;
  MessageId id;
  double seconds = 0;  // between the change and its end
  bool regretted = false;
};

sql::TxTask<> change_body(sql::Tx& tx, sql::Outbox outbox, Change change) {
  const sql::Rows changed = co_await tx.execute(change_aggregate, sql::Params(change.aggregate));
  const int64_t version = changed.one().integer(0);
  OutboxMessage message{.topic = outbox_topic,
                        .aggregate_type = "aggregate",
                        .aggregate_id = change.aggregate,
                        .aggregate_version = version,
                        .event_type = "Changed",
                        .payload = "{}",
                        .headers = {},
                        .id = change.id};
  co_await outbox.append(tx, std::move(message));
  co_await tx.execute(note_change, sql::Params(change.aggregate, version, change.id));
  co_await tx.execute(take_time, sql::Params(change.seconds));
  if (change.regretted) throw Regret();
}

// Most transactions are short, some take long enough to be overtaken by hundreds; every tenth rolls back.
Change next_change(Actor& actor) {
  Change change{.aggregate = fmt::format("aggregate {}", 1 + actor.random.below(outbox_aggregates)),
                .id = MessageId::make(actor.clock.wall(), actor.random)};
  change.seconds = static_cast<double>(actor.random.below(actor.random.below(100) == 0 ? 1500 : 40)) / 1000;
  change.regretted = actor.random.below(10) == 0;
  return change;
}

Task<> write(Actor& actor, sql::Database& database, sql::Outbox outbox) {
  while (!actor.stopping) {
    const Change change = next_change(actor);
    try {
      co_await database.transact(change_body, outbox, change);
    } catch (const Regret&) {
    } catch (const EngineUnavailable& error) {  // committed or not: the database knows
      std::fprintf(stderr, "%s\n", error.what());
    }
  }
}

Task<> until_told(Actor& actor) {
  asio::signal_set signals(actor.io, SIGTERM);
  co_await signals.async_wait(asio::use_awaitable);
  actor.stopping = true;
}

Task<> run_writer(Actor& actor, sql::Database& database, int at_once) {
  messaging::Bell bell;
  TaskScope writers(actor.io.get_executor());
  for (int i = 0; i < at_once; ++i) writers.spawn("writer", write(actor, database, sql::Outbox(bell)));
  say("ready");
  co_await until_told(actor);
  co_await writers.join();
}

Task<> run_relay(Actor& actor, sql::Database& database, messaging::MessageLog& log, std::string name) {
  messaging::Bell bell;
  sql::SqlOutboxStore store(database);
  const messaging::OutboxRelayConfig config{.poll = 100ms, .lease = 2s};
  const messaging::OutboxRelayParts parts{store, log, bell, actor.clock, actor.random};
  messaging::OutboxRelay relay(parts, config, name, actor.io.get_executor());
  relay.start();
  say("ready");
  co_await until_told(actor);
  co_await relay.stop();
}

sql::TxTask<> effect_body(sql::Tx& tx, std::string aggregate, int64_t version, MessageId id) {
  const bool first = co_await sql::first_time(tx, "effects", id);
  if (!first) co_return;
  co_await tx.execute(note_effect, sql::Params(aggregate, version, id));
}

Task<Handled> take_effect(sql::Database& database, Delivery delivery) {
  const int64_t version = std::stoll(std::string(delivery.header(messaging::header::aggregate_version).value()));
  co_await database.transact(effect_body, std::string(delivery.key), version, delivery.message_id().value());
  co_return Handled::done();
}

Task<> run_consumer(Actor& actor, sql::Database& database, messaging::MessageLog& log) {
  const messaging::ConsumerParts parts{log, actor.clock, actor.random};
  const messaging::ConsumerRole role{.group = "effects", .topics = {outbox_topic}, .worker = "consumer"};
  const messaging::ConsumerConfig config{.pause = {.first = 50ms, .factor = 2, .max = 500ms}, .commit_every = 200ms};
  messaging::Consumer consumer(
      parts, config, role, [&database](Delivery delivery) { return take_effect(database, std::move(delivery)); },
      actor.io.get_executor());
  consumer.start();
  say("ready");
  co_await until_told(actor);
  co_await consumer.stop();
}

struct Part {
  std::string kind;
  std::string name;
  std::string engine;
  std::string where;
};

// Brokers that have just started may be away for a moment.
Task<> declare_topics(Actor& actor, messaging::MessageLog& log) {
  const std::vector<messaging::Topic> topics{{outbox_topic, 6, 1h}, {"dead-letters", 1, 1h}};
  for (bool declared = false; !declared && !actor.stopping;) {
    try {
      co_await log.declare(topics);
      declared = true;
    } catch (const EngineUnavailable& error) {
      std::fprintf(stderr, "%s\n", error.what());
    }
    if (!declared) co_await actor.clock.sleep_for(100ms);
  }
}

Task<> act(Actor& actor, sql::Database& database, Part part) {
  if (part.kind == "writer") {
    co_await run_writer(actor, database, std::stoi(part.name));
    co_return;
  }
  ChosenLog chosen(part.engine, part.where, actor.io.get_executor(), actor.clock, actor.random);
  co_await declare_topics(actor, chosen.log());
  if (part.kind == "relay") co_await run_relay(actor, database, chosen.log(), part.name);
  if (part.kind == "consumer") co_await run_consumer(actor, database, chosen.log());
  co_await chosen.close();
}

}  // namespace
}  // namespace sluice::test

int main(int count, char** arguments) {
  using namespace sluice;
  if (count != 6) {
    std::fputs("usage: PASSWORD=... outbox_actor writer|relay|consumer NAME POSTGRES_URL kafka|redis WHERE\n", stderr);
    return 2;
  }
  const test::Part part{arguments[1], arguments[2], arguments[4], arguments[5]};
  test::Actor actor;
  const postgres::PostgresConfig config{.url = arguments[3],
                                        .user = part.kind == "relay" ? "common" : test::outbox_service,
                                        .password = std::getenv("PASSWORD"),
                                        .pool_max = 12};
  postgres::PostgresDatabase database(config, actor.thread, actor.clock);
  auto done = asio::co_spawn(actor.io, test::act(actor, database, part), asio::use_future);
  actor.io.run();
  done.get();
}
