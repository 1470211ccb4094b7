// Contract of every links::ImportStore, tested on a real engine.
#include "tests/contract/import_store_suite.h"

namespace sluice::test {

TEST_P(ImportStoreContract, a_new_import_is_being_read) {
  const Import import = begin();
  EXPECT_EQ(import.status, links::ImportStatus::queued);
  EXPECT_EQ(import.owner, owner_);
  EXPECT_EQ(import.total_items, 0);
  EXPECT_FALSE(import.started_at || import.finished_at || import.last_error);
}

TEST_P(ImportStoreContract, an_id_begins_one_import) {
  const Import import = begin();
  EXPECT_FALSE(run(imports_->begin(import.id, owner_)));
  EXPECT_FALSE(run(imports_->begin(import.id, OwnerId::make(clock_.wall(), random_))));
  EXPECT_TRUE(add(import, {bookmark("a", "/1")}));
  EXPECT_FALSE(run(imports_->begin(import.id, owner_)));
  EXPECT_EQ(progress(import), "0/1, 0 failed, queued");
}

TEST_P(ImportStoreContract, is_found_by_its_owner_only) {
  const Import import = begin();
  EXPECT_TRUE(run(imports_->find(import.id, owner_)));
  EXPECT_FALSE(run(imports_->find(import.id, OwnerId::make(clock_.wall(), random_))));
  EXPECT_FALSE(run(imports_->find(ImportId::make(clock_.wall(), random_), owner_)));
}

TEST_P(ImportStoreContract, a_link_in_several_folders_has_several_places_and_one_job) {
  const Import import = begin();
  EXPECT_TRUE(add(import, {bookmark("a", "/1", "one"), bookmark("b", "/1", "uno"), bookmark("a", "/2", "two")}));
  EXPECT_TRUE(add(import, {bookmark("c", "/1", "eins")}));
  EXPECT_EQ(places(), (Places{"a|one|/1", "a|two|/2", "b|uno|/1", "c|eins|/1"}));
  EXPECT_EQ(jobs().size(), 2u);
  EXPECT_EQ(progress(import), "0/4, 0 failed, queued");
}

TEST_P(ImportStoreContract, a_job_carries_its_link) {
  import_paths({"/x?b=1&a=2"});
  const jobs::Job job = jobs().at(0);
  const auto visit = links::parse_enrichment_payload(job.payload);
  ASSERT_TRUE(visit);
  EXPECT_EQ(visit->link.text(), "http://" + domain_ + "/x?a=2&b=1");
  EXPECT_EQ(job.unique_key, visit->link.id().text());
  EXPECT_EQ(job.throttle_key, domain_);
  EXPECT_EQ(job.max_attempts, 2);
}

TEST_P(ImportStoreContract, a_link_twice_in_a_folder_has_one_place_and_counts_twice) {
  const Import import = begin();
  EXPECT_TRUE(add(import, {bookmark("a", "/1", "first"), bookmark("a", "/1", "second")}));
  EXPECT_EQ(places(), (Places{"a|second|/1"}));
  EXPECT_TRUE(add(import, {bookmark("a", "/1", "third")}));
  EXPECT_EQ(places(), (Places{"a|third|/1"}));
  run(imports_->end_reading(import.id, {}));
  enrich("/1");
  EXPECT_EQ(progress(import), "3/3, 0 failed, succeeded");
}

TEST_P(ImportStoreContract, runs_until_the_last_of_its_links_has_ended) {
  const Import import = begin();
  EXPECT_TRUE(add(import, {bookmark("a", "/1"), bookmark("b", "/1"), bookmark("a", "/2")}));
  EXPECT_EQ(now(import).content, std::nullopt);
  const Uuid content = import.id.uuid();  // any
  const auto running = run(imports_->end_reading(import.id, {.skipped = 7, .content = content}));
  ASSERT_TRUE(running);
  EXPECT_EQ(running->content, content);
  EXPECT_EQ(running->status, ImportStatus::running);
  EXPECT_EQ(running->skipped_items, 7);
  EXPECT_TRUE(running->started_at);
  EXPECT_EQ(enrich("/1").at(0).processed_items, 2);
  EXPECT_EQ(progress(import), "2/3, 0 failed, running");
  fail("/2");
  EXPECT_EQ(progress(import), "3/3, 1 failed, succeeded");
  EXPECT_TRUE(now(import).finished_at);
}

TEST_P(ImportStoreContract, may_have_its_links_enriched_while_it_is_still_read) {
  const Import import = begin();
  EXPECT_TRUE(add(import, {bookmark("a", "/1")}));
  enrich("/1");
  EXPECT_EQ(progress(import), "1/1, 0 failed, queued");
  EXPECT_TRUE(add(import, {bookmark("b", "/1")}));
  EXPECT_EQ(progress(import), "2/2, 0 failed, queued");
  run(imports_->end_reading(import.id, {}));
  EXPECT_EQ(progress(import), "2/2, 0 failed, succeeded");
}

TEST_P(ImportStoreContract, without_a_bookmark_has_succeeded) {
  const Import import = begin();
  EXPECT_EQ(run(imports_->end_reading(import.id, {.skipped = 3}))->status, ImportStatus::succeeded);
}

TEST_P(ImportStoreContract, a_second_import_makes_no_job_for_a_link_that_is_live_or_succeeded) {
  const Import first = import_paths({"/1", "/2"});
  enrich("/1");
  const Import second = import_paths({"/1", "/2"});
  EXPECT_EQ(jobs().size(), 2u);
  EXPECT_EQ(places().size(), 2u);
  EXPECT_EQ(progress(second), "1/2, 0 failed, running");
  EXPECT_EQ(enrich("/2").size(), 2u);
  EXPECT_EQ(progress(first), "2/2, 0 failed, succeeded");
  EXPECT_EQ(progress(second), "2/2, 0 failed, succeeded");
  EXPECT_EQ(progress(import_paths({"/1", "/2"})), "2/2, 0 failed, succeeded");
}

TEST_P(ImportStoreContract, a_link_that_failed_is_tried_again_by_the_next_import) {
  import_paths({"/1"});
  const jobs::ClaimedJob claimed = claim().at(0);
  fail("/1");
  EXPECT_TRUE(run(jobs_->fail({{{claimed.id, claimed.token}, "gone", true}})).at(0).dead);
  const Import second = import_paths({"/1"});
  EXPECT_EQ(jobs().size(), 2u);
  EXPECT_EQ(progress(second), "0/1, 0 failed, running");
  enrich("/1");
  EXPECT_EQ(progress(second), "1/1, 0 failed, succeeded");
}

TEST_P(ImportStoreContract, a_canceled_import_waits_for_nothing_and_its_jobs_are_canceled) {
  const Import import = import_paths({"/1", "/2", "/3"});
  enrich("/1");
  const auto canceled = run(imports_->cancel(import.id, owner_));
  ASSERT_TRUE(canceled);
  EXPECT_EQ(canceled->status, ImportStatus::canceled);
  EXPECT_TRUE(enrich("/2").empty()) << "before its loose ends are tied up, too";
  EXPECT_EQ(run(imports_->tie_up(import.id, 1)), 1u);
  EXPECT_EQ(run(imports_->tie_up(import.id, 10)), 2u);
  EXPECT_EQ(run(imports_->tie_up(import.id, 10)), 0u);
  EXPECT_EQ(jobs_in(jobs::JobStatus::canceled), 1u);
  EXPECT_TRUE(enrich("/3").empty());
  EXPECT_EQ(progress(import), "1/3, 0 failed, canceled");
  EXPECT_EQ(places().size(), 3u);
}

TEST_P(ImportStoreContract, a_job_that_has_started_or_that_another_import_waits_for_is_not_canceled) {
  const Import import = import_paths({"/started"});
  ASSERT_EQ(claim().size(), 1u);
  EXPECT_TRUE(run(imports_->cancel(import.id, owner_)));
  tie_up(import);
  EXPECT_EQ(jobs_in(jobs::JobStatus::canceled), 0u);

  const Import first = import_paths({"/1", "/2"});
  const Import second = import_paths({"/2"});
  EXPECT_TRUE(run(imports_->cancel(first.id, owner_)));
  tie_up(first);
  EXPECT_EQ(run(imports_->tie_up(second.id, 10)), 0u);
  EXPECT_EQ(jobs_in(jobs::JobStatus::canceled), 1u);
  enrich("/2");
  EXPECT_EQ(progress(second), "1/1, 0 failed, succeeded");
}

TEST_P(ImportStoreContract, a_link_whose_job_was_canceled_gets_a_new_one) {
  const Import first = import_paths({"/1"});
  EXPECT_TRUE(run(imports_->cancel(first.id, owner_)));
  tie_up(first);
  import_paths({"/1"});
  EXPECT_EQ(jobs_in(jobs::JobStatus::queued), 1u);
}

TEST_P(ImportStoreContract, only_the_owner_cancels_and_only_what_has_not_ended) {
  const Import import = import_paths({"/1"});
  EXPECT_EQ(run(imports_->cancel(import.id, OwnerId::make(clock_.wall(), random_))).error(),
            links::CancelRefused::unknown);
  enrich("/1");
  EXPECT_EQ(run(imports_->cancel(import.id, owner_)).error(), links::CancelRefused::ended);
}

TEST_P(ImportStoreContract, nothing_is_added_to_an_import_that_is_not_being_read) {
  const Import canceled = begin();
  EXPECT_TRUE(run(imports_->cancel(canceled.id, owner_)));
  EXPECT_FALSE(add(canceled, {bookmark("a", "/1")}));
  EXPECT_FALSE(run(imports_->end_reading(canceled.id, {})));
  EXPECT_FALSE(run(imports_->reject(canceled.id, "too late")));
  EXPECT_FALSE(add(import_paths({}), {bookmark("a", "/1")}));
  EXPECT_TRUE(jobs().empty());
  EXPECT_TRUE(places().empty());
}

TEST_P(ImportStoreContract, a_bad_file_leaves_nothing_behind_but_its_error) {
  import_paths({"/kept"});
  const Import bad = begin();
  EXPECT_TRUE(add(bad, {bookmark("folder", "/kept"), bookmark("folder", "/new")}));
  const auto rejected = run(imports_->reject(bad.id, "line 7: broken"));
  ASSERT_TRUE(rejected);
  EXPECT_EQ(rejected->status, ImportStatus::failed);
  EXPECT_EQ(rejected->last_error, "line 7: broken");
  tie_up(bad);
  EXPECT_EQ(places(), (Places{"folder|title|/kept"}));
  EXPECT_EQ(jobs_in(jobs::JobStatus::queued), 1u);
}

TEST_P(ImportStoreContract, a_bad_file_changes_no_title) {
  import_paths({"/kept"});
  const Import bad = begin();
  EXPECT_TRUE(add(bad, {bookmark("folder", "/kept", "other"), bookmark("folder", "/new")}));
  EXPECT_EQ(places(), (Places{"folder|title|/kept", "folder|title|/new"}));
  EXPECT_TRUE(run(imports_->reject(bad.id, "line 7: broken")));
  tie_up(bad);
  EXPECT_EQ(places(), (Places{"folder|title|/kept"}));
}

TEST_P(ImportStoreContract, new_titles_of_old_bookmarks_come_with_the_end_of_a_good_file) {
  import_paths({"/1", "/2", "/3"});
  const Import good = begin();
  EXPECT_TRUE(add(good, {bookmark("folder", "/1", "one"), bookmark("folder", "/2", "two")}));
  EXPECT_TRUE(add(good, {bookmark("folder", "/2", "title"), bookmark("folder", "/3", "three")}));
  EXPECT_TRUE(run(imports_->end_reading(good.id, {})));
  EXPECT_EQ(run(imports_->tie_up(good.id, 2)), 2u);
  EXPECT_THAT(loose_ends(), testing::Contains(good.id));
  EXPECT_EQ(run(imports_->tie_up(good.id, 2)), 1u);
  EXPECT_EQ(run(imports_->tie_up(good.id, 2)), 0u);
  EXPECT_THAT(loose_ends(), testing::Not(testing::Contains(good.id)));
  EXPECT_EQ(places(), (Places{"folder|one|/1", "folder|three|/3", "folder|title|/2"}));
}

TEST_P(ImportStoreContract, what_a_cancel_or_a_bad_file_left_to_do_is_known) {
  const Import canceled = import_paths({"/1"});
  const Import bad = begin();
  EXPECT_TRUE(add(bad, {bookmark("folder", "/2")}));
  EXPECT_THAT(loose_ends(), testing::Not(testing::Contains(canceled.id)));
  EXPECT_TRUE(run(imports_->cancel(canceled.id, owner_)));
  EXPECT_TRUE(run(imports_->reject(bad.id, "broken")));
  for (const Import& import : {canceled, bad}) {
    EXPECT_THAT(loose_ends(), testing::Contains(import.id));
    tie_up(import);
    EXPECT_THAT(loose_ends(), testing::Not(testing::Contains(import.id)));
  }
  EXPECT_EQ(jobs_in(jobs::JobStatus::canceled), 2u);
}

TEST_P(ImportStoreContract, several_are_found_at_once) {
  const Import one = import_paths({"/1"});
  owner_ = OwnerId::make(clock_.wall(), random_);
  const Import two = import_paths({"/1"});
  const std::vector<Import> found = run(imports_->find_all({one.id, ImportId::make(clock_.wall(), random_), two.id}));
  std::vector<ImportId> ids;
  for (const Import& import : found) ids.push_back(import.id);
  EXPECT_THAT(ids, testing::UnorderedElementsAre(one.id, two.id));
}

TEST_P(ImportStoreContract, all_who_wait_in_vain_are_found_part_by_part) {
  imports_.emplace(database(), kinds_, clock_, random_, 2);
  const Import import = import_paths({"/1", "/2", "/3", "/4", "/5"});
  for (const jobs::Job& job : jobs()) EXPECT_EQ(run(jobs_->cancel(job.id)), true);
  EXPECT_TRUE(eventually([&] {
    run(imports_->end_vain_waits());
    return progress(import) == "5/5, 5 failed, succeeded";
  }));
}

TEST_P(ImportStoreContract, a_wait_for_a_job_that_is_gone_is_settled) {
  const Import import = import_paths({"/1", "/2"});
  for (const jobs::Job& job : jobs()) EXPECT_EQ(run(jobs_->cancel(job.id)), true);
  enrich("/1");
  settle_waits();
  EXPECT_EQ(progress(import), "2/2, 1 failed, succeeded");
}

TEST_P(ImportStoreContract, a_wait_for_a_job_that_lives_goes_on) {
  const Import import = import_paths({"/1"});
  settle_waits();
  EXPECT_EQ(progress(import), "0/1, 0 failed, running");
}

TEST_P(ImportStoreContract, an_import_whose_reading_broke_off_has_failed) {
  const Import import = begin();
  EXPECT_TRUE(add(import, {bookmark("a", "/1")}));
  run(imports_->fail_broken_off(1h));
  EXPECT_EQ(now(import).status, ImportStatus::queued);
  EXPECT_TRUE(eventually([&] {
    run(imports_->fail_broken_off(1ms));
    return now(import).status == ImportStatus::failed;
  }));
  EXPECT_EQ(now(import).last_error, "the upload broke off");
}

TEST_P(ImportStoreContract, takes_a_large_export_twice_and_makes_its_jobs_once) {
  const int thousands = in_full() ? 20 : 2;
  const int pages = 475 * thousands;
  const auto import_all = [this, thousands, pages] {
    const Import import = begin();
    for (int batch = 0; batch < thousands; ++batch) {
      std::vector<Bookmark> bookmarks;
      for (int i = batch * 1000; i < (batch + 1) * 1000; ++i) {
        const int page = i % pages;
        const auto link = CanonicalUrl::parse(fmt::format("http://s{}.{}/{}", page % 333, domain_, page));
        bookmarks.push_back({fmt::format("folder {}", i % 425), "title", *link});
      }
      EXPECT_TRUE(add(import, std::move(bookmarks)));
    }
    return run(imports_->end_reading(import.id, {})).value();
  };
  for (int time = 0; time < 2; ++time) {
    EXPECT_EQ(progress(import_all()), fmt::format("0/{}000, 0 failed, running", thousands));
  }
  const sql::Rows counted =
      run(database().read("SELECT count(*) FROM jobs WHERE throttle_key LIKE '%.' || $1", sql::Params(domain_)));
  EXPECT_EQ(counted.one().integer(0), pages);
  // Out of the way of the other tests, which look at the same tables.
  const sql::Rows imports = run(database().read("SELECT id FROM import_jobs WHERE user_id = $1", sql::Params(owner_)));
  for (const sql::Row& row : imports) EXPECT_TRUE(run(imports_->cancel(row.id<links::ImportTag>(0), owner_)));
  for (const sql::Row& row : imports) {
    while (run(imports_->tie_up(row.id<links::ImportTag>(0), 1000)) > 0) continue;
  }
  const sql::Rows canceled = run(
      database().read("SELECT count(*) FROM finished_jobs WHERE status = 'canceled' AND throttle_key LIKE '%.' || $1",
                      sql::Params(domain_)));
  EXPECT_EQ(canceled.one().integer(0), pages);
  run(jobs_->purge(-1s, static_cast<size_t>(pages)));
}

TEST_P(ImportStoreContract, no_import_waits_in_vain_when_its_link_ends_at_the_same_moment) {
  std::vector<Import> imports;
  for (int i = 0; i < 8; ++i) imports.push_back(begin());
  const auto add_one = [](links::ImportStore& store, ImportId id, Bookmark one) -> Task<> {
    const bool added = co_await store.add(id, {std::move(one)});
    EXPECT_TRUE(added);
  };
  const auto end_one = [](links::LinkStore& store, links::LinkId link) -> Task<> { co_await store.enriched(link, {}); };
  for (int round = 0; round < 20; ++round) {
    const std::string path = fmt::format("/{}", round);
    EXPECT_TRUE(add(imports[0], {bookmark("a", path)}));
    std::vector<Task<>> tasks;
    for (size_t i = 1; i < imports.size(); ++i) tasks.push_back(add_one(*imports_, imports[i].id, bookmark("a", path)));
    tasks.push_back(end_one(*links_, url(path).id()));
    for (const auto& outcome : run_all(std::move(tasks))) EXPECT_FALSE(outcome.error);
  }
  for (const Import& import : imports) EXPECT_EQ(progress(import), "20/20, 0 failed, queued");
}

}  // namespace sluice::test
