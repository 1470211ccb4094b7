// Transactions that get their numbers, draw their ids and commit in every order.
//
// A relay reads between any two steps and goes on where it was, never from the start.
#include <algorithm>
#include <random>

#include "adapters/postgres/connection.h"
#include "adapters/sql/messaging/sql_outbox_store.h"
#include "messaging/outbox_cursors.h"
#include "runtime/system_clock.h"
#include "tests/contract/database_fixture.h"
#include "tests/contract/postgres_engines.h"
#include "tests/support/needs.h"

namespace sluice::test {
namespace {

using messaging::OutboxBatch;

constexpr sql::Statement find_aggregates =
    "SELECT number::text FROM generate_series(1, 10000) AS number "
    "WHERE get_byte(sha256(convert_to('order/' || number, 'UTF8')), 0) & 63 = 0 LIMIT 3";
constexpr std::string_view append =
    "SELECT common.append_outbox(gen_random_uuid(), 'topic', 'order', $1, $2, 'event', '', '{}')";
constexpr messaging::BatchLimits limits{1000, 1000};

class PostgresOutboxOrder : public TaskFixture {
 protected:
  static constexpr size_t steps_each = 3;  // number, id, commit

  void SetUp() override {
    SLUICE_NEEDS(PostgresServer::why_missing(15));
    common_ = postgres_service_engines("common").front().open(io_, 100);
    store_.emplace(common_->database());
    const sql::Rows found = run(common_->database().read(find_aggregates));
    for (const sql::Row& row : found) aggregates_.push_back(row.text(0));  // of one bucket
    const postgres::PostgresConfig config{
        .url = shared_postgres().url(), .user = "job_service", .password = service_password("job_service")};
    for (size_t i = 0; i <= aggregates_.size(); ++i) {
      writers_.push_back(run(postgres::Connection::open(io_.get_executor(), config, clock_)));
    }
  }
  void TearDown() override {
    writers_.clear();
    common_.reset();
  }

  void execute(size_t writer, std::string_view text, const sql::Params& params = {}) {
    std::vector<postgres::Step> steps{{text, params}};
    const postgres::PipelineOutcome outcome = run(writers_[writer]->run(std::move(steps), 10s));
    ASSERT_FALSE(outcome.failure) << outcome.failure->message;
  }
  void append_row(size_t writer, size_t aggregate, int64_t version) {
    execute(writer, append, sql::Params(aggregates_[aggregate], version));
  }
  void do_step(size_t writer, size_t step) {
    switch (step) {
      case 0:
        execute(writer, "BEGIN");
        execute(writer, "SELECT pg_current_xact_id()");
        break;
      case 1: append_row(writer, writer, 1); break;
      default: execute(writer, "COMMIT");
    }
  }

  void begin_relay() {
    run(common_->database().write("DELETE FROM outbox_events"));
    cursors_ = {};
    cursors_.adopt(run(store_->hold("relay", 10min)));
    told_.clear();
  }
  // As a relay does.
  void look() {
    const std::vector<messaging::BucketScan> scans = cursors_.plan();
    const OutboxBatch batch = run(store_->unpublished(scans, limits, {}));
    ASSERT_TRUE(cursors_.advance(scans, batch, limits, now_));
    std::vector<messaging::OutboxMark> marks;
    for (const messaging::OutboxRow& row : batch.rows) {
      marks.push_back(row.mark);
      const auto& headers = row.message.headers;
      const auto version = std::ranges::find(headers, messaging::header::aggregate_version,
                                             [](const auto& header) { return header.first; });
      told_[row.message.key] += version->second;
    }
    if (!marks.empty()) run(store_->mark_published(marks));
  }

  // `order` names a writer for each step.
  void play(const std::vector<size_t>& order, size_t writers) {
    SCOPED_TRACE(fmt::format("writers step in the order {}", fmt::join(order, " ")));
    begin_relay();
    std::vector<size_t> done(writers, 0);
    for (const size_t writer : order) {
      do_step(writer, done[writer]++);
      look();
      look();
    }
    // Second messages, which must not overtake the first.
    for (size_t i = 0; i < writers; ++i) append_row(writers_.size() - 1, i, 2);
    look();
    for (size_t i = 0; i < writers; ++i) EXPECT_EQ(told_[aggregates_[i]], "12") << "of writer " << i;
  }

  SystemClock clock_;
  const Instant now_{1h};  // stands still, so that every transaction is waited for
  std::unique_ptr<OpenDatabase> common_;
  std::optional<sql::SqlOutboxStore> store_;
  std::vector<std::string> aggregates_;
  std::vector<std::unique_ptr<postgres::Connection>> writers_;  // one for each aggregate, and one that commits at once
  messaging::OutboxCursors cursors_;
  std::map<std::string, std::string> told_;  // versions by aggregate, in order
};

std::vector<size_t> steps_of(size_t writers, size_t each) {
  std::vector<size_t> order;
  for (size_t writer = 0; writer < writers; ++writer) order.insert(order.end(), each, writer);
  return order;
}

TEST_F(PostgresOutboxOrder, two_transactions_tell_everything_in_order_however_they_overlap) {
  std::vector<size_t> order = steps_of(2, steps_each);
  do {
    play(order, 2);
  } while (!HasFailure() && std::ranges::next_permutation(order).found);
}

TEST_F(PostgresOutboxOrder, three_transactions_tell_everything_in_order_however_they_overlap) {
  std::vector<size_t> order = steps_of(3, steps_each);
  std::mt19937 random(1);
  for (int i = 0; i < 60 && !HasFailure(); ++i) {
    std::ranges::shuffle(order, random);
    play(order, 3);
  }
}

}  // namespace
}  // namespace sluice::test
