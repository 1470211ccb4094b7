#include "flows/bookmark_imports.h"

#include <deque>

#include <boost/asio/use_future.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "flows/testing/pretend_imports.h"
#include "runtime/virtual_clock.h"

namespace sluice::flows {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using Kind = ImportRefusal::Kind;

const std::string head = "<!DOCTYPE NETSCAPE-Bookmark-file-1>\n<DL><p>\n";
const std::string tail = "</DL><p>\n";

std::string bookmarks(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += fmt::format("<DT><A HREF=\"https://site.test/{}\">{}</A>\n", i, i);
  return text;
}

class BookmarkImportsTest : public testing::Test {
 protected:
  using Outcome = Result<Import, ImportRefusal>;

  PretendFile file(std::deque<std::string> pieces) { return PretendFile(clock, std::move(pieces)); }
  PretendFile good_file() { return file({head, bookmarks(3), tail}); }

  // The returned pointer has the outcome when the import has ended.
  std::shared_ptr<std::optional<Outcome>> start_import(PretendFile& from, std::optional<std::string> key = {}) {
    auto outcome = std::make_shared<std::optional<Outcome>>();
    asio::co_spawn(io, imports.import(owner, std::move(key), from),
                   [this, outcome](const std::exception_ptr& error, Outcome ended) {
                     failure = error;
                     if (!error) *outcome = std::move(ended);
                   });
    return outcome;
  }
  std::optional<Outcome> import(PretendFile& from, std::optional<std::string> key = {}) {
    const auto outcome = start_import(from, std::move(key));
    clock.run(io, clock.now() + 1h);
    return *outcome;
  }
  std::optional<Outcome> import(PretendFile&& from, std::optional<std::string> key = {}) {
    return import(from, std::move(key));
  }
  Result<Import, CancelRefused> cancel(ImportId id) {
    auto done = asio::co_spawn(io, imports.cancel(id, owner), asio::use_future);
    clock.run(io, clock.now() + 1s);
    return done.get();
  }
  const Import& only_import() const { return store.imports.begin()->second; }

  asio::io_context io;
  VirtualClock clock;
  SeededRandom random{1};
  PretendImportStore store;
  HeardNews news;
  BookmarkImports imports{{store, news, [] {}, clock, random},
                          {.at_once = 3, .at_once_each = 2, .reading_limit = 50s, .settle_every = 1min}};
  OwnerId owner = OwnerId::make(clock.wall(), random);
  std::exception_ptr failure;
};

TEST_F(BookmarkImportsTest, a_file_is_stored_in_batches_and_counted) {
  const auto outcome = import(file({head, bookmarks(1'150), "<DT><A HREF=\"javascript:x\">no page</A>", tail}));
  ASSERT_TRUE(outcome && *outcome);
  EXPECT_EQ((*outcome)->status, ImportStatus::running);
  EXPECT_EQ((*outcome)->total_items, 1'150);
  EXPECT_EQ((*outcome)->skipped_items, 1);
  EXPECT_THAT(store.batches, ElementsAre(500, 500, 150));
}

TEST_F(BookmarkImportsTest, a_bad_file_is_taken_back_with_its_jobs) {
  store.waiting_jobs = 2'500;
  const auto outcome = import(file({head, bookmarks(600), "</DL></DL>"}));
  ASSERT_TRUE(outcome && !*outcome);
  EXPECT_EQ(outcome->error().kind, Kind::bad_file);
  EXPECT_EQ(outcome->error().fault->kind, links::BookmarkFault::Kind::malformed);
  EXPECT_EQ(only_import().status, ImportStatus::failed);
  EXPECT_THAT(only_import().last_error.value(), HasSubstr("line 603"));
  EXPECT_EQ(store.waiting_jobs, 0U);
  EXPECT_THAT(news.heard, ElementsAre(ImportStatus::failed));
}

TEST_F(BookmarkImportsTest, an_upload_that_breaks_off_is_taken_back) {
  PretendFile broken = file({head, bookmarks(600)});
  broken.breaks_off = true;
  EXPECT_FALSE(import(broken));
  EXPECT_TRUE(failure);
  EXPECT_EQ(only_import().status, ImportStatus::failed);
  EXPECT_EQ(only_import().last_error, "the upload failed: gone");
}

TEST_F(BookmarkImportsTest, an_engine_that_is_away_is_not_hidden) {
  store.away = true;
  EXPECT_FALSE(import(good_file()));
  EXPECT_THROW(std::rethrow_exception(failure), EngineUnavailable);
  EXPECT_EQ(only_import().status, ImportStatus::queued) << "settled later";
}

TEST_F(BookmarkImportsTest, a_key_imports_its_file_once) {
  const auto first = import(good_file(), "key");
  const auto again = import(good_file(), "key");
  const auto other = import(good_file(), "other");
  EXPECT_EQ((*first)->id, (*again)->id);
  EXPECT_NE((*first)->id, (*other)->id);
  owner = OwnerId::make(clock.wall(), random);
  EXPECT_NE((*first)->id, (*import(good_file(), "key"))->id);
  EXPECT_EQ(store.imports.size(), 3U);
}

TEST_F(BookmarkImportsTest, a_key_of_another_file_is_refused) {
  const auto first = import(good_file(), "key");
  const auto other = import(file({head, bookmarks(4), tail}), "key");
  ASSERT_FALSE(*other);
  EXPECT_EQ(other->error().kind, Kind::key_reused);
  const auto cut_elsewhere = import(file({head + bookmarks(3), tail}), "key");
  ASSERT_TRUE(*cut_elsewhere);
  EXPECT_EQ((*cut_elsewhere)->id, (*first)->id);
  store.imports.at((*first)->id).content.reset();  // as an earlier version left it
  EXPECT_TRUE(*import(file({head, bookmarks(4), tail}), "key"));
  EXPECT_EQ(store.imports.size(), 1U);
}

TEST_F(BookmarkImportsTest, a_key_whose_import_failed_may_be_used_again) {
  EXPECT_FALSE(*import(file({head}), "key"));
  EXPECT_FALSE(*import(file({head}), "key"));
  const auto third = import(good_file(), "key");
  EXPECT_TRUE(*third);
  EXPECT_EQ((*import(good_file(), "key"))->id, (*third)->id);
  EXPECT_EQ(store.imports.size(), 3U);
}

TEST_F(BookmarkImportsTest, a_key_is_in_use_while_its_file_is_read) {
  PretendFile slow = good_file();
  slow.pause = 10s;
  const auto first = start_import(slow, "key");
  clock.run(io, clock.now() + 15s);
  PretendFile other = good_file();
  const auto second = start_import(other, "key");
  clock.run(io, clock.now() + 1h);
  EXPECT_TRUE(**first);
  EXPECT_EQ((*second)->error().kind, Kind::key_in_use);
}

TEST_F(BookmarkImportsTest, only_so_many_files_are_read_at_once) {
  std::deque<PretendFile> files;
  std::vector<std::shared_ptr<std::optional<Outcome>>> outcomes;
  for (int i = 0; i < 5; ++i) {
    if (i == 3) owner = OwnerId::make(clock.wall(), random);
    files.push_back(good_file());
    files.back().pause = 10s;
    outcomes.push_back(start_import(files.back()));
    clock.run(io, clock.now());
  }
  clock.run(io, clock.now() + 1h);
  EXPECT_TRUE(**outcomes[0] && **outcomes[1]);
  EXPECT_EQ((*outcomes[2])->error().kind, Kind::too_many);
  EXPECT_TRUE(**outcomes[3]);
  EXPECT_EQ((*outcomes[4])->error().kind, Kind::busy);
  EXPECT_TRUE(*import(good_file())) << "places are given back";
}

TEST_F(BookmarkImportsTest, an_import_that_is_canceled_while_it_is_read_ends) {
  PretendFile slow = file({head, bookmarks(600), bookmarks(600), tail});
  slow.pause = 10s;
  const auto outcome = start_import(slow);
  clock.run(io, clock.now() + 25s);
  store.waiting_jobs = 1'500;
  EXPECT_TRUE(cancel(only_import().id));
  clock.run(io, clock.now() + 1h);
  EXPECT_EQ((*outcome)->error().kind, Kind::ended);
  EXPECT_EQ(only_import().status, ImportStatus::canceled);
  EXPECT_EQ(store.waiting_jobs, 0U);
}

TEST_F(BookmarkImportsTest, canceling_again_finishes_what_was_left_and_what_has_ended_stays) {
  const Import import = **this->import(good_file());
  EXPECT_EQ(cancel(import.id)->status, ImportStatus::canceled);
  store.waiting_jobs = 10;
  EXPECT_EQ(cancel(import.id)->status, ImportStatus::canceled);
  EXPECT_EQ(store.waiting_jobs, 0U);
  store.imports.at(import.id).status = ImportStatus::succeeded;
  EXPECT_EQ(cancel(import.id).error(), CancelRefused::ended);
  EXPECT_EQ(cancel(ImportId::make(clock.wall(), random)).error(), CancelRefused::unknown);
}

TEST_F(BookmarkImportsTest, a_slow_upload_shows_that_it_is_alive) {
  PretendFile slow = file({head, "<DT><A HREF=\"https://site.test/\">", "a ", "long ", "title", "</A>", tail});
  slow.pause = 11s;
  EXPECT_TRUE(*import(slow));
  EXPECT_THAT(store.batches, ElementsAre(0, 0, 0, 0, 0, 1, 0));
}

TEST_F(BookmarkImportsTest, what_a_process_that_died_left_to_do_is_done) {
  TaskScope scope(io.get_executor());
  imports.start(scope);
  clock.run(io, clock.now() + 30s);
  store.loose = {ImportId::make(clock.wall(), random)};
  store.waiting_jobs = 3'000;
  clock.run(io, clock.now() + 1min);
  EXPECT_EQ(store.waiting_jobs, 0U);
  EXPECT_THAT(store.loose, IsEmpty());
  scope.cancel();
  clock.run(io, clock.now() + 1s);
}

TEST_F(BookmarkImportsTest, an_import_that_cannot_be_tied_up_stops_no_other) {
  TaskScope scope(io.get_executor());
  for (int i = 0; i < 250; ++i) store.loose.push_back(ImportId::make(clock.wall(), random));
  store.stuck = std::ranges::min(store.loose);
  imports.start(scope);
  clock.run(io, clock.now() + 10s);
  EXPECT_THAT(store.loose, ElementsAre(*store.stuck));
  scope.cancel();
  clock.run(io, clock.now() + 1s);
}

TEST_F(BookmarkImportsTest, a_huge_import_lets_others_have_their_turn) {
  TaskScope scope(io.get_executor());
  for (int i = 0; i < 2; ++i) store.loose.push_back(ImportId::make(clock.wall(), random));
  store.waiting_jobs = 50'000;
  imports.start(scope);
  clock.run(io, clock.now() + 10s);
  EXPECT_THAT(store.loose, IsEmpty());
  const auto first_turn = std::ranges::find_if(store.tied_up, [&](ImportId id) { return id != store.tied_up.front(); });
  EXPECT_EQ(first_turn - store.tied_up.begin(), 10);
  scope.cancel();
  clock.run(io, clock.now() + 1s);
}

TEST_F(BookmarkImportsTest, a_large_import_is_canceled_without_waiting_for_all_of_its_jobs) {
  const Import import = **this->import(good_file());
  store.waiting_jobs = 1'000'000;
  EXPECT_EQ(cancel(import.id)->status, ImportStatus::canceled);
  EXPECT_EQ(store.waiting_jobs, 990'000U);
}

TEST_F(BookmarkImportsTest, loose_ends_do_not_wait_for_what_cannot_be_settled) {
  TaskScope scope(io.get_executor());
  store.waits_away = true;
  store.loose = {ImportId::make(clock.wall(), random)};
  imports.start(scope);
  clock.run(io, clock.now() + 10s);
  EXPECT_THAT(store.loose, IsEmpty());
  scope.cancel();
  clock.run(io, clock.now() + 1s);
}

TEST_F(BookmarkImportsTest, what_is_old_is_deleted_in_steps) {
  TaskScope scope(io.get_executor());
  store.old_rows = 12'345;
  store.unused_links = 4'321;
  imports.start(scope);
  clock.run(io, clock.now() + 10s);
  EXPECT_EQ(store.old_rows, 0U);
  EXPECT_EQ(store.unused_links, 0U);
  EXPECT_EQ(store.kept_for, std::chrono::days(30));
  scope.cancel();
  clock.run(io, clock.now() + 1s);
}

TEST_F(BookmarkImportsTest, what_broke_off_is_settled_and_told) {
  TaskScope scope(io.get_executor());
  imports.start(scope);
  clock.run(io, clock.now() + 30s);
  EXPECT_EQ(store.settled_with, 50s);
  EXPECT_THAT(news.heard, IsEmpty());
  store.to_settle.resize(2);
  store.to_settle[0].status = ImportStatus::failed;
  store.to_settle[1].status = ImportStatus::succeeded;
  clock.run(io, clock.now() + 1min);
  EXPECT_THAT(news.heard, ElementsAre(ImportStatus::failed, ImportStatus::succeeded));
  scope.cancel();
  clock.run(io, clock.now() + 1s);
}

}  // namespace
}  // namespace sluice::flows
