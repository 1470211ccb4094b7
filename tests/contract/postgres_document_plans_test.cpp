// Plans of the store of documents (tests/contract/postgres_plans.h).
#include "adapters/sql/documents/sql_document_records.h"
#include "adapters/sql/documents/sql_document_store.h"
#include "tests/contract/postgres_plans.h"

namespace sluice::test {
namespace {

using documents::DocumentKey;
using documents::DocumentPath;

class PostgresDocumentPlans : public PostgresPlans {
 protected:
  void SetUp() override {
    PostgresPlans::SetUp();
    if (!server_) return;
    database_ = login("document_service");
    store_.emplace(*database_);
    records_.emplace(*database_);
  }

  // Nearly all are of the one origin that is used, as it is for an operator.
  void fill_tables() override {
    for (const char* text : {
             "INSERT INTO documents (origin, path, state, body, content_type, etag, fetched_at, change_number, "
             "  asked_at, created_at, updated_at) "
             "SELECT CASE WHEN i % 100 = 0 THEN 'other' ELSE 'origin' END, 'filling/' || i, 'CACHED', 'body', "
             "  'text/html', '\"1\"', now(), i, now() - interval '2 days', now(), now() FROM generate_series(1, 30000) "
             "AS i",
             "INSERT INTO document_changes AS c (origin, number) VALUES ('origin', 30000) "
             "ON CONFLICT (origin) DO UPDATE SET number = c.number + 30000",
             "INSERT INTO document_changes (origin, number) "
             "SELECT 'origin ' || i, i FROM generate_series(1, 30000) AS i",
         }) {
      execute(*database_, text);
    }
  }

  DocumentKey new_key() { return {"origin", *DocumentPath::parse(unique("path"))}; }
  int64_t claim(const DocumentKey& key, Duration ttl = 1min) {
    const documents::ClaimOutcome outcome = run(store_->claim({.key = key, .owner = "owner", .ttl = ttl}));
    return std::get<documents::Acquired>(outcome).token;
  }
  void store(const DocumentKey& key) {
    documents::Document document;
    document.body = "body";
    document.content_type = "text/html";
    document.etag = "\"1\"";
    EXPECT_TRUE(run(store_->complete(key, claim(key), document)));
  }

  void use_stores(size_t paths_at_once) override {
    const DocumentKey key = new_key();
    store(key);
    // Another owner's claim is live, and then a fresh copy exists.
    const int64_t token = claim(key);
    run(store_->claim({.key = key, .owner = "other", .ttl = 1min, .fresh_for = 1min}));
    EXPECT_TRUE(run(store_->renew(key, token, 1min)));
    run(store_->fail(key, token, 1s, 1min));
    run(store_->download_state(key));
    run(store_->knows(key));
    EXPECT_TRUE(run(store_->find(key)));
    EXPECT_TRUE(run(records_->find(key)));
    run(records_->stored_paths("origin"));
    EXPECT_TRUE(run(store_->purge(key)));
    const DocumentKey stranger = new_key();
    run(store_->abort(stranger, claim(stranger)));
    sweep();
    learn_changes(paths_at_once);
    forget(paths_at_once);
  }

  void sweep() {
    const DocumentKey stored = new_key();
    store(stored);
    claim(stored, -1s);
    claim(new_key(), -1s);
    EXPECT_EQ(run(store_->sweep()), 2);
  }

  // As an instance that has just started, and then again and again.
  void learn_changes(size_t count) {
    int64_t known = 0;
    for (size_t i = 0; i < count; i += 100) {
      const int64_t last = run(store_->last_change("origin"));
      run(store_->changes_since("origin", known));
      known = last - 1;
    }
  }

  void forget(size_t count) {
    std::vector<std::string> paths;
    for (size_t i = 0; i < count; ++i) paths.push_back(fmt::format("filling/{}", i));
    run(store_->note_asked("origin", paths));
    execute(*database_, "UPDATE documents SET asked_at = now() - interval '1 year' WHERE path LIKE 'path%'");
    EXPECT_GT(run(store_->forget("origin", 24h * 100)), 0);
    EXPECT_EQ(run(store_->forget("origin", 24h * 100)), 0);
  }

  // Lists all paths for an operator, on the command line; and the test's own.
  std::set<std::string> exempt_statements() const override {
    return {"SELECT path FROM documents WHERE origin = $1 AND body IS NOT NULL",
            "UPDATE documents SET asked_at = now() - interval '1 year'"};
  }

  std::unique_ptr<postgres::PostgresDatabase> database_;
  std::optional<sql::SqlDocumentStore> store_;
  std::optional<sql::SqlDocumentRecords> records_;
};

TEST_F(PostgresDocumentPlans, no_statement_on_documents_reads_a_whole_table_that_grows) {
  expect_only_lookups(20);
}

}  // namespace
}  // namespace sluice::test
