// The stores of links and imports on a real engine, beside the jobs they add, with a domain of its own for every test.
#pragma once

#include "adapters/sql/jobs/sql_job_store.h"
#include "adapters/sql/links/sql_import_store.h"
#include "adapters/sql/links/sql_link_store.h"
#include "links/enrichment_job.h"
#include "runtime/system_clock.h"
#include "tests/contract/database_fixture.h"

namespace sluice::test {

class LinkStoresFixture : public DatabaseFixture {
 protected:
  using Bookmark = links::Bookmark;
  using CanonicalUrl = links::CanonicalUrl;
  using FailureReason = links::FailureReason;
  using Import = links::Import;
  using ImportId = links::ImportId;
  using ImportStatus = links::ImportStatus;
  using LinkPage = links::LinkPage;
  using OwnerId = links::OwnerId;

  void SetUp() override {
    DatabaseFixture::SetUp();
    jobs_.emplace(database(), kinds_, clock_, random_);
    imports_.emplace(database(), kinds_, clock_, random_);
    links_.emplace(database());
    domain_ = fmt::format("d{:x}.test", random_.next());
    owner_ = OwnerId::make(clock_.wall(), random_);
  }

  CanonicalUrl url(const std::string& path) const { return *CanonicalUrl::parse("http://" + domain_ + path); }
  Bookmark bookmark(const std::string& folder, const std::string& path, const std::string& title = "title") const {
    return {folder, title, url(path)};
  }

  Import begin() { return run(imports_->begin(ImportId::make(clock_.wall(), random_), owner_)).value(); }
  bool add(const Import& import, std::vector<Bookmark> bookmarks) {
    return run(imports_->add(import.id, std::move(bookmarks)));
  }
  // A whole import of one folder; its links wait to be enriched.
  Import import_paths(const std::vector<std::string>& paths) {
    const Import import = begin();
    std::vector<Bookmark> bookmarks;
    for (const std::string& path : paths) bookmarks.push_back(bookmark("folder", path));
    EXPECT_TRUE(add(import, std::move(bookmarks)));
    return run(imports_->end_reading(import.id, {})).value();
  }
  Import now(const Import& import) { return run(imports_->find(import.id, import.owner)).value(); }

  // "processed/total, failed failed, status".
  std::string progress(const Import& import) {
    const Import seen = now(import);
    return fmt::format("{}/{}, {} failed, {}", seen.processed_items, seen.total_items, seen.failed_items,
                       enum_name(seen.status));
  }

  std::vector<Import> enrich(const std::string& path, const std::string& title = "Title") {
    return run(links_->enriched(url(path).id(), {.title = title}));
  }
  std::vector<Import> fail(const std::string& path, FailureReason reason = FailureReason::gone) {
    return run(links_->failed(url(path).id(), reason));
  }

  // The jobs of this test's domain, newest first.
  std::vector<jobs::Job> jobs() {
    jobs::JobPage page = run(jobs_->list({.kind = links::enrich_link}, std::nullopt, 1000));
    std::erase_if(page.jobs, [this](const jobs::Job& job) { return job.throttle_key != domain_; });
    return std::move(page.jobs);
  }
  size_t jobs_in(jobs::JobStatus status) {
    return static_cast<size_t>(std::ranges::count(jobs(), status, &jobs::Job::status));
  }
  // Claims all claimable jobs and gives back those of other tests' domains.
  std::vector<jobs::ClaimedJob> claim() {
    std::vector<jobs::ClaimedJob> mine;
    for (const jobs::ClaimedJob& job : run(jobs_->claim({"worker", {links::enrich_link}, 1000}))) {
      if (job.throttle_key == domain_) mine.push_back(job);
    }
    return mine;
  }

  std::vector<std::string> places(std::optional<std::string> folder = std::nullopt) {
    std::vector<std::string> found;
    for (const links::OwnedLink& link : run(links_->list(owner_, std::move(folder), std::nullopt, 1000)).links) {
      found.push_back(link.folder + "|" + link.title + "|" + http::Url::parse(link.url)->path());
    }
    std::ranges::sort(found);
    return found;
  }

  SystemClock clock_;
  SeededRandom random_{std::random_device{}()};
  jobs::JobKinds kinds_;
  std::optional<sql::SqlJobStore> jobs_;
  std::optional<sql::SqlImportStore> imports_;
  std::optional<sql::SqlLinkStore> links_;
  std::string domain_;
  OwnerId owner_;
};

}  // namespace sluice::test
