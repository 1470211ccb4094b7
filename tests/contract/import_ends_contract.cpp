// Contract of every links::ImportStore for the end of imports and their remains, tested on a real engine.
#include "tests/contract/import_ends_suite.h"

namespace sluice::test {

TEST_P(ImportEndsContract, a_retried_upload_keeps_its_bookmarks_when_the_first_one_is_settled) {
  const Import first = begin_with({bookmark("a", "/1"), bookmark("a", "/2")});
  const Import second = begin_with({bookmark("a", "/1"), bookmark("a", "/2"), bookmark("a", "/3")});
  finish(second);
  take_back(first);
  EXPECT_EQ(places(), (Places{"a|title|/1", "a|title|/2", "a|title|/3"}));
  EXPECT_EQ(jobs_in(jobs::JobStatus::queued), 3u);
  EXPECT_EQ(progress(second), "0/3, 0 failed, running");
}

TEST_P(ImportEndsContract, a_bookmark_belongs_to_every_import_that_names_it_while_these_are_being_read) {
  const Import first = begin_with({bookmark("a", "/1"), bookmark("a", "/2")});
  const Import second = begin_with({bookmark("a", "/1", "one"), bookmark("a", "/3")});
  const Import third = begin_with({bookmark("a", "/1", "uno")});
  take_back(first);
  EXPECT_EQ(places(), (Places{"a|title|/1", "a|title|/3"}));
  take_back(second);
  EXPECT_EQ(places(), (Places{"a|title|/1"}));
  finish(third);
  EXPECT_EQ(places(), (Places{"a|uno|/1"}));
}

TEST_P(ImportEndsContract, a_bookmark_that_only_failed_imports_named_is_gone) {
  const Import first = begin_with({bookmark("a", "/1")});
  const Import second = begin_with({bookmark("a", "/1")});
  take_back(first);
  take_back(second);
  EXPECT_EQ(places(), Places{});
  EXPECT_EQ(jobs_in(jobs::JobStatus::canceled), 1u);
}

TEST_P(ImportEndsContract, a_bookmark_named_again_after_its_import_failed_is_kept) {
  const Import first = begin_with({bookmark("a", "/1"), bookmark("a", "/2")});
  EXPECT_TRUE(run(imports_->reject(first.id, "broken")));
  const Import second = begin_with({bookmark("a", "/1")});
  finish(second);
  tie_up(first);
  EXPECT_EQ(places(), (Places{"a|title|/1"}));
}

TEST_P(ImportEndsContract, an_import_that_fails_takes_nothing_from_one_that_was_canceled) {
  const Import first = begin_with({bookmark("a", "/1")});
  const Import second = begin_with({bookmark("a", "/1", "one")});
  EXPECT_TRUE(run(imports_->cancel(second.id, owner_)));
  take_back(first);
  tie_up(second);
  EXPECT_EQ(places(), (Places{"a|one|/1"}));
}

TEST_P(ImportEndsContract, a_large_import_is_taken_back_a_few_rows_at_a_time) {
  std::vector<Bookmark> many;
  for (int i = 0; i < 50; ++i) many.push_back(bookmark("a", fmt::format("/{}", i)));
  const Import import = begin_with(std::move(many));
  EXPECT_TRUE(run(imports_->reject(import.id, "broken")));
  const auto rows = [&] {
    return count("SELECT count(*) FROM link_instances WHERE import_id = $1", import) +
           count("SELECT count(*) FROM import_links WHERE import_id = $1", import);
  };
  int64_t left = rows();
  EXPECT_EQ(left, 100) << "ending the import itself changes its own row only";
  while (run(imports_->tie_up(import.id, 10)) > 0) {
    EXPECT_EQ(left - rows(), 10);
    left = rows();
  }
  EXPECT_EQ(left, 0);
  EXPECT_EQ(jobs_in(jobs::JobStatus::canceled), 50u);
}

TEST_P(ImportEndsContract, a_large_import_is_canceled_a_few_rows_at_a_time) {
  std::vector<std::string> paths;
  for (int i = 0; i < 50; ++i) paths.push_back(fmt::format("/{}", i));
  const Import import = import_paths(paths);
  EXPECT_TRUE(run(imports_->cancel(import.id, owner_)));
  EXPECT_EQ(jobs_in(jobs::JobStatus::canceled), 0u);
  for (size_t canceled = 10; canceled <= 50; canceled += 10) {
    EXPECT_EQ(run(imports_->tie_up(import.id, 10)), 10u);
    EXPECT_EQ(jobs_in(jobs::JobStatus::canceled), canceled);
  }
  EXPECT_EQ(run(imports_->tie_up(import.id, 10)), 0u);
  EXPECT_EQ(places().size(), 50u);
}

TEST_P(ImportEndsContract, no_bookmark_is_lost_when_one_import_is_taken_back_while_another_names_the_same) {
  const auto take_back_all = [](links::ImportStore& store, ImportId id) -> Task<> {
    size_t done = 1;
    while (done > 0) done = co_await store.tie_up(id, 1);
  };
  const auto add_all = [](links::ImportStore& store, ImportId id, std::vector<Bookmark> bookmarks) -> Task<> {
    for (Bookmark& bookmark : bookmarks) {
      std::vector<Bookmark> one{std::move(bookmark)};
      const bool added = co_await store.add(id, std::move(one));
      EXPECT_TRUE(added);
    }
  };
  for (int round = 0; round < 5; ++round) {
    std::vector<Bookmark> bookmarks;
    for (int i = 0; i < 10; ++i) bookmarks.push_back(bookmark("a", fmt::format("/{}/{}", round, i)));
    const Import bad = begin_with(bookmarks);
    EXPECT_TRUE(run(imports_->reject(bad.id, "broken")));
    const Import good = begin();
    std::vector<Task<>> tasks;
    tasks.push_back(take_back_all(*imports_, bad.id));
    tasks.push_back(add_all(*imports_, good.id, bookmarks));
    for (const auto& outcome : run_all(std::move(tasks))) EXPECT_FALSE(outcome.error);
    finish(good);
    tie_up(bad);
    EXPECT_EQ(places().size(), 10u * static_cast<size_t>(round + 1));
  }
}

TEST_P(ImportEndsContract, a_wait_for_a_job_that_somebody_else_added_goes_on) {
  const jobs::NewJob job{.kind = links::enrich_link,
                         .payload = links::enrichment_payload(url("/1")),
                         .unique_key = url("/1").id().text(),
                         .throttle_key = domain_};
  const jobs::JobId added = run(jobs_->enqueue({job})).at(0).id;
  const Import import = import_paths({"/1"});
  imports_.emplace(database(), kinds_, clock_, random_, 1'000'000);
  run(imports_->end_vain_waits());
  EXPECT_EQ(progress(import), "0/1, 0 failed, running");
  EXPECT_TRUE(run(imports_->cancel(import.id, owner_)));
  tie_up(import);
  EXPECT_EQ(run(jobs_->find(added))->status, jobs::JobStatus::canceled) << "this import was the last to wait for it";
}

TEST_P(ImportEndsContract, an_import_that_ended_long_ago_is_forgotten_in_steps_and_its_bookmarks_stay) {
  const Import import = import_paths({"/1", "/2", "/3", "/4", "/5"});
  for (const char* path : {"/1", "/2", "/3", "/4", "/5"}) enrich(path);
  tie_up(import);
  EXPECT_EQ(run(imports_->forget_ended(1h, 2)), 0u);
  forget_ended();
  EXPECT_FALSE(run(imports_->find(import.id, owner_)));
  EXPECT_EQ(count("SELECT count(*) FROM import_links WHERE import_id = $1", import), 0);
  EXPECT_EQ(places().size(), 5u);
  forget_unused_links();
  EXPECT_EQ(progress(import_paths({"/1", "/6"})), "1/2, 0 failed, running");
}

TEST_P(ImportEndsContract, a_bookmark_whose_import_was_forgotten_keeps_its_title_when_a_bad_file_names_it) {
  const Import import = import_paths({"/1"});
  enrich("/1");
  tie_up(import);
  forget_ended();
  take_back(begin_with({bookmark("folder", "/1", "other")}));
  EXPECT_EQ(places(), (Places{"folder|title|/1"}));
}

TEST_P(ImportEndsContract, an_import_that_runs_or_has_loose_ends_is_not_forgotten) {
  const Import running = import_paths({"/1"});
  const Import loose = import_paths({"/2"});
  EXPECT_TRUE(run(imports_->cancel(loose.id, owner_)));
  forget_ended();
  EXPECT_TRUE(run(imports_->find(running.id, owner_)));
  EXPECT_TRUE(run(imports_->find(loose.id, owner_)));
  tie_up(loose);
  forget_ended();
  EXPECT_FALSE(run(imports_->find(loose.id, owner_)));
}

TEST_P(ImportEndsContract, a_link_that_nobody_has_is_forgotten_and_gets_a_new_job_when_it_returns) {
  const Import bad = begin_with({bookmark("a", "/1"), bookmark("a", "/2")});
  for (const jobs::ClaimedJob& job : claim()) {
    enrich(links::parse_enrichment_payload(job.payload)->link.text().substr(("http://" + domain_).size()));
    EXPECT_EQ(run(jobs_->complete({{{job.id, job.token}, std::nullopt}})).at(0), jobs::Verdict::accepted);
  }
  take_back(bad);
  EXPECT_EQ(run(imports_->forget_unused_links(1h, 100)), 0u);
  EXPECT_TRUE(is_known("/1"));
  forget_unused_links();
  EXPECT_FALSE(is_known("/1"));
  EXPECT_EQ(progress(import_paths({"/1", "/2"})), "0/2, 0 failed, running");
  EXPECT_EQ(jobs_in(jobs::JobStatus::queued), 2u);
}

TEST_P(ImportEndsContract, a_link_whose_job_still_runs_or_that_is_used_again_is_not_forgotten) {
  const Import bad = begin_with({bookmark("a", "/runs")});
  ASSERT_EQ(claim().size(), 1u);
  take_back(bad);
  take_back(begin_with({bookmark("a", "/again")}));
  import_paths({"/again"});
  forget_unused_links();
  EXPECT_TRUE(is_known("/runs"));
  EXPECT_TRUE(is_known("/again"));
}

}  // namespace sluice::test
