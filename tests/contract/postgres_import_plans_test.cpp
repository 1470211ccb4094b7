// Plans of the stores of imports, links and blocked domains (tests/contract/postgres_plans.h).
#include "adapters/sql/jobs/sql_job_store.h"
#include "adapters/sql/links/sql_blocked_domains.h"
#include "adapters/sql/links/sql_import_store.h"
#include "adapters/sql/links/sql_link_store.h"
#include "links/enrichment_job.h"
#include "tests/contract/postgres_plans.h"

namespace sluice::test {
namespace {

using links::Bookmark;
using links::CanonicalUrl;
using links::ImportId;
using links::OwnerId;

class PostgresImportPlans : public PostgresPlans {
 protected:
  void SetUp() override {
    PostgresPlans::SetUp();
    if (!server_) return;
    database_ = login("job_service");
    jobs_.emplace(*database_, kinds_, clock_, random_);
    imports_.emplace(*database_, kinds_, clock_, random_);
    links_.emplace(*database_);
    domains_.emplace(*database_);
  }

  // Imports of one bookmark each; a third of them wait for their links, all of which have jobs.
  void fill_tables() override {
    for (const char* text : {
             "INSERT INTO jobs (id, kind, status, priority, run_after, max_attempts, created_at, updated_at, "
             "  throttle_key, payload) "
             "SELECT lpad(i::text, 32, '0')::uuid, 'enrich_link', 'queued', 0, now(), 2, now(), now(), 'd' || i, '{}' "
             "FROM generate_series(1, 30000) AS i",
             "INSERT INTO job_keys (kind, unique_key, job_id) "
             "SELECT 'enrich_link', 'd' || i, lpad(i::text, 32, '0')::uuid FROM generate_series(1, 30000) AS i",
             "WITH made AS (INSERT INTO throttle_keys (kind, throttle_key) "
             "  SELECT 'enrich_link', 'd' || i FROM generate_series(1, 30000) AS i RETURNING kind, throttle_key) "
             "INSERT INTO throttle_states (kind, throttle_key) SELECT kind, throttle_key FROM made",
             "INSERT INTO link_canonicals (id, url, domain, job_id, created_at) "
             "SELECT id, 'http://d' || i, 'd' || i, id, now() "
             "FROM generate_series(1, 30000) AS i, lateral (SELECT lpad(i::text, 32, '0')::uuid) AS filled (id)",
             "INSERT INTO import_jobs (id, user_id, source_type, status, created_at, updated_at, finished_at) "
             "SELECT id, id, 'chrome_html', 'succeeded', now(), now(), now() + interval '2 days' "
             "FROM generate_series(1, 30000) AS i, lateral (SELECT lpad(i::text, 32, '0')::uuid) AS filled (id)",
             "INSERT INTO link_instances (id, user_id, folder, link_id, title, import_id, created_at) "
             "SELECT id, id, 'folder', id, 'title', id, now() "
             "FROM generate_series(1, 30000) AS i, lateral (SELECT lpad(i::text, 32, '0')::uuid) AS filled (id)",
             "INSERT INTO import_links (import_id, link_id, bookmarks, outcome) "
             "SELECT id, id, 1, CASE WHEN i % 3 = 0 THEN 'pending' ELSE 'enriched' END "
             "FROM generate_series(1, 30000) AS i, lateral (SELECT lpad(i::text, 32, '0')::uuid) AS filled (id)",
             "INSERT INTO import_places (import_id, instance_id, title) SELECT id, id, 'title' "
             "FROM generate_series(1, 30000) AS i, lateral (SELECT lpad(i::text, 32, '0')::uuid) AS filled (id)",
             "INSERT INTO blocked_domains (domain, reason, count, first_at, last_at) "
             "SELECT 'filling ' || i, 'robots', 1, now(), now() FROM generate_series(1, 30000) AS i",
         }) {
      execute(*database_, text);
    }
  }

  // Each time other links.
  std::vector<Bookmark> bookmarks(size_t count) {
    const std::string domain = unique("d");
    std::vector<Bookmark> all;
    for (size_t i = 0; i < count; ++i) {
      all.push_back({.folder = fmt::format("folder {}", i % 3),
                     .title = "title",
                     .url = *CanonicalUrl::parse(fmt::format("http://{}{}.test/{}", domain, i % 7, i))});
    }
    return all;
  }
  static std::vector<Bookmark> with_title(std::vector<Bookmark> bookmarks, const std::string& title) {
    for (Bookmark& one : bookmarks) one.title = title;
    return bookmarks;
  }

  ImportId begin_with(OwnerId owner, const std::vector<Bookmark>& bookmarks) {
    const ImportId id = ImportId::make(clock_.wall(), random_);
    EXPECT_TRUE(run(imports_->begin(id, owner)));
    EXPECT_TRUE(run(imports_->add(id, bookmarks)));
    return id;
  }
  void tie_up(ImportId id) {
    while (run(imports_->tie_up(id, 1'000)) > 0) continue;
  }

  void use_stores(size_t bookmarks_at_once) override {
    const OwnerId owner = OwnerId::make(clock_.wall(), random_);
    const std::vector<Bookmark> first = bookmarks(bookmarks_at_once);
    const std::vector<Bookmark> second = bookmarks(bookmarks_at_once);
    end_in_all_ways(owner, first, second);
    end_links(first);
    end_waits_without_jobs(owner);
    read(owner);
    while (run(imports_->forget_ended(-1s, 1'000)) > 0) continue;
    while (run(imports_->forget_unused_links(-1s, 1'000)) > 0) continue;
    for (const auto reason : {links::FailureReason::robots, links::FailureReason::forbidden}) {
      run(domains_->blame("d1", reason));
    }
    run(domains_->candidates(10));
  }

  void end_in_all_ways(OwnerId owner, const std::vector<Bookmark>& first, const std::vector<Bookmark>& second) {
    const ImportId rejected = begin_with(owner, first);
    const ImportId good = begin_with(owner, with_title(first, "another"));
    EXPECT_TRUE(run(imports_->add(good, second)));
    EXPECT_TRUE(run(imports_->reject(rejected, "broken")));
    EXPECT_TRUE(run(imports_->end_reading(good, {.skipped = 1})));
    EXPECT_FALSE(run(imports_->with_loose_ends(ImportId(), 100)).empty());
    tie_up(rejected);
    tie_up(good);
    const ImportId canceled = begin_with(owner, second);
    EXPECT_TRUE(run(imports_->cancel(canceled, owner)));
    tie_up(canceled);
    const ImportId broken_off = begin_with(owner, bookmarks(first.size()));
    EXPECT_FALSE(run(imports_->fail_broken_off(-1s)).empty());
    tie_up(broken_off);
    std::vector<ImportId> ids{rejected, good, canceled, broken_off};
    while (ids.size() < first.size()) ids.push_back(ImportId::make(clock_.wall(), random_));
    EXPECT_EQ(run(imports_->find_all(ids)).size(), 4u);
    EXPECT_TRUE(run(imports_->find(good, owner)));
  }

  void end_links(const std::vector<Bookmark>& bookmarks) {
    run(links_->enriched(bookmarks.front().url.id(), {.title = "Title"}));
    run(links_->failed(bookmarks.back().url.id(), links::FailureReason::gone));
  }

  // An operator has canceled the jobs; they stand behind all others.
  void end_waits_without_jobs(OwnerId owner) {
    const ImportId import = begin_with(owner, bookmarks(5));
    run(imports_->end_reading(import, {}));
    for (const jobs::Job& job : run(jobs_->list({.kind = links::enrich_link}, std::nullopt, 5)).jobs) {
      run(jobs_->cancel(job.id));
    }
    while (run(imports_->find(import, owner))->status == links::ImportStatus::running) run(imports_->end_vain_waits());
  }

  void read(OwnerId owner) {
    const links::LinkPage page = run(links_->list(owner, std::nullopt, std::nullopt, 3));
    run(links_->list(owner, std::nullopt, page.next, 1'000));
    run(links_->list(owner, "folder 1", std::nullopt, 1'000));
  }

  // Reports on all domains: for an operator, on the command line.
  std::set<std::string> exempt_statements() const override {
    return {"WITH believed AS (SELECT * FROM blocked_domains"};
  }

  const jobs::JobKinds kinds_;
  std::unique_ptr<postgres::PostgresDatabase> database_;
  std::optional<sql::SqlJobStore> jobs_;
  std::optional<sql::SqlImportStore> imports_;
  std::optional<sql::SqlLinkStore> links_;
  std::optional<sql::SqlBlockedDomains> domains_;
};

TEST_F(PostgresImportPlans, no_statement_on_imports_reads_a_whole_table_that_grows) {
  expect_only_lookups(40);
}

}  // namespace
}  // namespace sluice::test
