// Which copy answers, and how instances learn of others'.
#include "documents/testing/origin_documents_fixture.h"

namespace sluice::documents {
namespace {

TEST_F(OriginDocumentsTest, the_nearest_copy_answers) {
  OriginDocuments& documents = instance();
  store_copy("stored", 1h);
  EXPECT_EQ(get_now(documents).source(), Source::database);
  EXPECT_EQ(get_now(documents).source(), Source::memory);
  EXPECT_TRUE(documents.in_memory(path));
  static_copies.copies[path.text()] = make_document("bundled", clock.wall());
  EXPECT_EQ(get_now(instance()).source(), Source::static_file);
  EXPECT_EQ(origin.asked, 0);
}

TEST_F(OriginDocumentsTest, an_invalid_copy_is_passed_over_and_replaced) {
  const auto page = make_document("<html>error</html>", clock.wall());
  page->content_type = "text/html";
  store.rows[path.text()].document = page;
  static_copies.copies[path.text()] = page;
  const Reading& reading = get_now(instance());
  EXPECT_EQ(reading.body(), "fetched 1");
  EXPECT_EQ(store.rows[path.text()].document->body, "fetched 1");
}

TEST_F(OriginDocumentsTest, replacing_an_invalid_copy_heeds_the_hold_down) {
  const auto page = make_document("<html>error</html>", clock.wall());
  page->content_type = "text/html";
  store.rows[path.text()].document = page;
  origin.error = FetchError::failed;
  OriginDocuments& documents = instance();
  get(documents);
  pass(1s);
  const Reading& second = get(documents);
  pass(0s);
  EXPECT_EQ(second.refused(), Reason::hold_down);
  EXPECT_EQ(origin.asked, 1);
  const Reading& forced = refresh(documents, true);
  pass(1s);
  EXPECT_EQ(forced.refused(), Reason::origin_error);
  EXPECT_EQ(origin.asked, 2) << "a forced request ignores it";
}

TEST_F(OriginDocumentsTest, replacing_an_invalid_copy_is_tried_three_times_at_most) {
  const auto page = make_document("<html>error</html>", clock.wall());
  page->content_type = "text/html";
  store.rows[path.text()].document = page;
  store.always_cached = true;
  EXPECT_EQ(get_now(instance()).refused(), Reason::invalid_content);
  EXPECT_EQ(store.claims, 3);
}

TEST_F(OriginDocumentsTest, instances_learn_of_a_refresh_and_it_outranks_the_static_copy) {
  static_copies.copies[path.text()] = make_document("bundled", clock.wall());
  OriginDocuments& here = instance("here");
  OriginDocuments& there = instance("there");
  here.start();
  there.start();
  EXPECT_EQ(get_now(here).body(), "bundled");
  refresh(there, true);
  pass(6s);
  EXPECT_FALSE(here.in_memory(path));
  const Reading& here_now = get(here);
  const Reading& there_now = get(there);
  pass(0s);
  EXPECT_EQ(here_now.body(), "fetched 1");
  EXPECT_EQ(here_now.source(), Source::database);
  EXPECT_EQ(there_now.body(), "fetched 1");
}

TEST_F(OriginDocumentsTest, an_instance_that_starts_learns_of_all_changes_in_steps) {
  static_copies.copies[path.text()] = make_document("bundled", clock.wall());
  store.changes_at_once = 2;
  for (const char* other : {"a", "b", "c", "d"}) store.rows[other].change = ++store.changes;
  const auto forced = make_document("forced", clock.wall());
  forced->forced = true;
  store.rows[path.text()].document = forced;
  store.rows[path.text()].change = ++store.changes;
  OriginDocuments& documents = instance();
  documents.start();
  pass(1s);
  EXPECT_EQ(get_now(documents).body(), "forced");
}

TEST_F(OriginDocumentsTest, a_copy_of_this_process_stays_when_its_own_change_is_learned) {
  OriginDocuments& documents = instance();
  documents.start();
  get_now(documents);
  pass(10s);
  EXPECT_TRUE(documents.in_memory(path));
  refresh(documents, true);
  pass(10s);
  ASSERT_TRUE(documents.in_memory(path));
  EXPECT_EQ(documents.in_memory(path)->document->body, "fetched 2");
}

TEST_F(OriginDocumentsTest, a_refresh_that_says_no_case_type_keeps_the_known_one) {
  OriginDocuments& documents = instance();
  refresh(documents, true, "civil");
  pass(1s);
  const Reading& again = refresh(documents, true);
  pass(1s);
  EXPECT_EQ((*again.lookup)->document->case_type, "civil");
  EXPECT_EQ(documents.in_memory(path)->document->case_type, "civil");
}

TEST_F(OriginDocumentsTest, instances_learn_of_a_purge) {
  static_copies.copies[path.text()] = make_document("bundled", clock.wall());
  OriginDocuments& here = instance("here");
  OriginDocuments& there = instance("there");
  here.start();
  refresh(here, true);
  pass(6s);
  readers.spawn("purge", purge(there, path));
  pass(6s);
  EXPECT_EQ(get_now(here).body(), "bundled");
}

TEST_F(OriginDocumentsTest, a_copy_asked_for_before_a_change_was_learned_does_not_stay_in_memory) {
  store_copy("old", 1h);
  OriginDocuments& here = instance("here");
  here.start();
  pass(1s);
  store.find_takes = 10s;
  const Reading& slow = get(here);
  pass(100ms);
  refresh(instance("there"), true);
  pass(20s);
  EXPECT_EQ(slow.body(), "old");
  store.find_takes = 0s;
  EXPECT_EQ(get_now(here).body(), "fetched 1");
}

TEST_F(OriginDocumentsTest, an_outranked_static_copy_is_the_last_resort) {
  static_copies.copies[path.text()] = make_document("bundled", clock.wall());
  OriginDocuments& here = instance("here");
  here.start();
  refresh(instance("there"), true);
  pass(6s);
  store.down = true;
  const Reading& without_database = get_now(here);
  EXPECT_EQ(without_database.body(), "bundled");
  EXPECT_TRUE(without_database.degraded());

  store.down = false;
  origin.error = FetchError::failed;
  const auto page = make_document("<html>error</html>", clock.wall());
  page->content_type = "text/html";
  store.rows[path.text()].document = page;
  const Reading& without_origin = get_now(here);
  EXPECT_EQ(without_origin.body(), "bundled");
  EXPECT_EQ(without_origin.source(), Source::static_file);
  EXPECT_EQ(without_origin.degraded(), Reason::origin_error);
}

TEST_F(OriginDocumentsTest, without_the_database_a_copy_in_memory_is_served_however_old) {
  store_copy("stored", 1h);
  OriginDocuments& documents = instance();
  get_now(documents);
  store.down = true;
  EXPECT_EQ(get_now(documents).source(), Source::memory);
  pass(2 * fresh_for);
  for (Reading* const reading : {&get(documents), &refresh(documents, true)}) {
    pass(10s);
    EXPECT_EQ(reading->body(), "stored");
    EXPECT_EQ(reading->source(), Source::stale);
    EXPECT_EQ(reading->degraded(), Reason::database_unavailable);
  }
  EXPECT_EQ(get_now(instance("empty")).refused(), Reason::database_unavailable);
  static_copies.copies[path.text()] = make_document("bundled", clock.wall());
  const Reading& bundled = refresh(instance("other"), true);
  pass(10s);
  EXPECT_EQ(bundled.body(), "bundled");
  EXPECT_TRUE(bundled.degraded());
}

TEST_F(OriginDocumentsTest, the_database_is_told_what_was_asked_for_and_what_to_forget) {
  store_copy("stored", 1h);
  OriginDocuments& documents = instance();
  documents.start();
  get_now(documents);
  pass(2h);
  EXPECT_EQ(store.asked, std::set<std::string>{path.text()});
  store.asked.clear();
  pass(2h);
  EXPECT_TRUE(store.asked.empty()) << "no request since";
  EXPECT_TRUE(documents.in_memory(path));
  pass(2h);
  EXPECT_EQ(store.asked, std::set<std::string>{path.text()}) << "a copy in memory was asked for";
  EXPECT_EQ(store.forget_after, often().forget_after);
}

TEST_F(OriginDocumentsTest, a_forgotten_row_outranks_the_static_file_no_longer) {
  static_copies.copies[path.text()] = make_document("bundled", clock.wall());
  OriginDocuments& documents = instance();
  documents.start();
  refresh(documents, true);
  pass(2 * fresh_for);
  store.rows.clear();
  EXPECT_EQ(get_now(documents).body(), "bundled");
}

}  // namespace
}  // namespace sluice::documents
