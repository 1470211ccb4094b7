// Changes are told through the outbox while relays are killed and paused and the log is away or forgets everything.
//
// Promised: every committed change arrives and takes effect exactly once, in order per aggregate; one that was rolled
// back never does. The whole history is compared: for each aggregate, the changes that the database committed and the
// effects that a consumer had, one by one.
#pragma once

#include <csignal>

#include <gtest/gtest.h>

#include "adapters/postgres/migrations.h"
#include "adapters/postgres/postgres_database.h"
#include "adapters/postgres/postgres_setup.h"
#include "runtime/system_clock.h"
#include "tests/chaos/outbox_tables.h"
#include "tests/contract/task_fixture.h"
#include "tests/support/postgres_server.h"
#include "tests/support/run_length.h"

namespace sluice::test {

class OutboxChaos : public TaskFixture {
 protected:
  static constexpr const char* password = "secret";

  void set_up_database() {
    server_.emplace();
    const postgres::SetupConfig config{
        .admin = {.url = server_->url(), .user = server_->user(), .password = server_->password()},
        .services = {{outbox_service, password}, {"common", password}}};
    postgres::PostgresSetup setup(config, thread_, clock_);
    run(setup.create_services());
    std::vector<sql::MigrationSet> sets = postgres::migrations();
    std::erase_if(sets, [](const sql::MigrationSet& set) { return set.schema != "common"; });
    run(setup.migrate(sets));
    service_ = log_in(outbox_service);
    common_ = log_in("common");
    for (const sql::Statement& make : {make_aggregates, make_changes, make_effects, make_inbox}) {
      run(service_->write(make));
    }
  }
  std::unique_ptr<sql::Database> log_in(const std::string& user) {
    const postgres::PostgresConfig config{.url = server_->url(), .user = user, .password = password};
    return std::make_unique<postgres::PostgresDatabase>(config, thread_, clock_);
  }

  // Nicer than the engines, which take several times as long to start where actors use all of the CPU.
  std::unique_ptr<Process> launch(const std::string& kind, const std::string& name) const {
    return std::make_unique<Process>(ProcessOptions{
        .arguments = {"nice", "-n", "5", binary("outbox_actor"), kind, name, server_->url(), engine_, where_},
        .environment = {{"PASSWORD", password}}});
  }
  // `writers`: how many changes are under way at once.
  void start_all(int writers = 10) {
    for (const char* name : {"relay 1", "relay 2", "relay 3"}) relays_.push_back(launch("relay", name));
    consumer_ = launch("consumer", "consumer");
    writer_ = launch("writer", std::to_string(writers));
    for (const auto& relay : relays_) relay->wait_for_line("ready", 2min);
    see_effects(300);
  }
  // The writer ends, everything else goes on until there is nothing left to do.
  void finish() {
    writer_->signal(SIGTERM);
    EXPECT_EQ(writer_->wait(2min), 0) << writer_->output();
    const int64_t committed = number(*service_, "SELECT count(*) FROM changes");
    EXPECT_GT(committed, 500);
    wait_until("effect of every change", [&] { return effects() >= committed; });
    wait_until("end of the outbox", [&] { return unpublished() == 0; });
    compare_histories();
    for (const auto& process : relays_) stop(*process);
    EXPECT_EQ(number(*common_, "SELECT count(*) FROM outbox_buckets WHERE expires_at > now()"), 0)
        << "who stops gives its buckets back";
    stop(*consumer_);
  }
  static void stop(Process& process) {
    process.signal(SIGTERM);
    EXPECT_EQ(process.wait(2min), 0) << process.output();
  }
  void compare_histories() {
    using History = std::map<std::string, std::vector<std::string>>;
    const auto history = [this](sql::Statement statement) {
      History all;
      for (const sql::Row& row : run(service_->read(statement))) {
        all[row.text(0)].push_back(fmt::format("{} {}", row.integer(1), row.uuid(2).text()));
      }
      return all;
    };
    const History committed = history("SELECT aggregate, version, message_id FROM changes ORDER BY aggregate, version");
    const History effects = history("SELECT aggregate, version, message_id FROM effects ORDER BY aggregate, number");
    EXPECT_EQ(committed.size(), static_cast<size_t>(outbox_aggregates));
    for (const auto& [aggregate, changes] : committed) {
      const auto seen = effects.find(aggregate);
      ASSERT_NE(seen, effects.end()) << aggregate;
      EXPECT_EQ(seen->second, changes) << aggregate;
    }
    EXPECT_EQ(effects.size(), committed.size());
  }

  // Kills the first relay and puts another one in its place.
  void kill_a_relay() {
    relays_[0]->kill();
    see_effects(100);
    relays_[0] = launch("relay", "relay 4");
    relays_[0]->wait_for_line("ready", 2min);
  }
  // Pauses the second relay for so long that others take its buckets, and lets it go on.
  void pause_a_relay() {
    relays_[1]->signal(SIGSTOP);
    wait_until("takeover",
               [this] { return number(*common_, "SELECT count(*) FROM outbox_buckets WHERE owner = 'relay 2'") == 0; });
    relays_[1]->signal(SIGCONT);
    see_effects(100);
  }

  int64_t number(sql::Database& database, sql::Statement statement) {
    return run(database.read(statement)).one().integer(0);
  }
  int64_t effects() { return number(*service_, "SELECT count(*) FROM effects"); }
  int64_t unpublished() { return number(*common_, "SELECT count(*) FROM outbox_events WHERE NOT published"); }
  void see_effects(int64_t more) {
    const int64_t before = effects();
    wait_until(fmt::format("{} more effects", more), [&] { return effects() >= before + more; });
  }
  template <class Condition>
  void wait_until(const std::string& what, Condition holds) {
    const Instant end = clock_.now() + 2min;
    while (!holds()) {
      if (clock_.now() > end) throw std::runtime_error(fmt::format("no {}; {}", what, last_words()));
      run(clock_.sleep_for(20ms));
    }
  }
  // The last output of the processes.
  std::string last_words() const {
    std::string all = fmt::format("consumer: {}", consumer_ ? consumer_->output() : "");
    for (const auto& relay : relays_) all += "\nrelay: " + relay->output();
    return all;
  }
  void let_pass(Duration time) { run(clock_.sleep_for(time)); }

  SystemClock clock_;
  postgres::EngineThread thread_;
  std::optional<PostgresServer> server_;
  std::string engine_;
  std::string where_;
  std::unique_ptr<sql::Database> service_;
  std::unique_ptr<sql::Database> common_;
  std::vector<std::unique_ptr<Process>> relays_;
  std::unique_ptr<Process> consumer_;
  std::unique_ptr<Process> writer_;
};

}  // namespace sluice::test
