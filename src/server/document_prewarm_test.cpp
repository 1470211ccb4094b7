#include "server/document_prewarm.h"

#include "documents/testing/origin_documents_fixture.h"

namespace sluice::server {
namespace {

TEST(PrewarmList, has_a_path_in_each_line_and_its_case_type_behind_it) {
  const auto list =
      parse_prewarm_list("# layouts\n\n a/1.xml\r\na/2.xml  civil first instance \n\t# end\na/3.xml", true);
  ASSERT_TRUE(list);
  ASSERT_EQ(list->size(), 3U);
  EXPECT_EQ(list->at(0).path.text(), "a/1.xml");
  EXPECT_EQ(list->at(0).case_type, std::nullopt);
  EXPECT_EQ(list->at(1).path.text(), "a/2.xml");
  EXPECT_EQ(list->at(1).case_type, "civil first instance");
  EXPECT_EQ(list->at(2).path.text(), "a/3.xml");
  EXPECT_TRUE(list->at(2).force);
}

TEST(PrewarmList, a_line_that_is_no_path_is_named) {
  const auto list = parse_prewarm_list("a/1.xml\n../secret\n", false);
  ASSERT_FALSE(list);
  EXPECT_EQ(list.error(), "../secret");
}

TEST(PrewarmList, an_empty_list_has_nothing) {
  EXPECT_TRUE(parse_prewarm_list("", false)->empty());
  EXPECT_TRUE(parse_prewarm_list("\n\n", false)->empty());
}

struct PrewarmTest : documents::OriginDocumentsTest {
  Task<> warm(PrewarmOrder order) {
    outcome = co_await prewarm(all, clock, random, std::move(order), [](const PrewarmOutcome&) {});
  }

  Offload form_threads{"forms", 1, 10};
  documents::Documents all{store, clock, random, scope, context.get_executor(), form_threads};
  std::optional<PrewarmOutcome> outcome;
};

TEST_F(PrewarmTest, waits_before_it_asks_an_origin_again_whose_line_was_full) {
  documents::OriginConfig config = often();
  config.max_per_second = 1;
  config.slot_wait = 100ms;
  coordination::PretendLimit narrow(rate_plan(config), clock);
  all.add(config, {store, static_copies, origin, slots, narrow, breaker, clock, random, "me"});
  PrewarmOrder order{.origin = "o", .documents = *parse_prewarm_list("1.xml\n2.xml\n3.xml\n", false), .at_once = 3};
  readers.spawn("prewarm", warm(std::move(order)));
  pass(500ms);
  EXPECT_EQ(breaker.asked, 3) << "no request has been repeated yet";
  pass(1min);
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->downloaded, 3U);
  readers.cancel();
  scope.cancel();
  pass(0s);
}

}  // namespace
}  // namespace sluice::server
