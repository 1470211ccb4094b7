#include "coordination/denylist.h"

#include <gtest/gtest.h>

#include "coordination/testing/pretend_denial_copy.h"
#include "coordination/testing/pretend_denial_records.h"
#include "runtime/virtual_clock.h"

namespace sluice::coordination {
namespace {

struct DenylistTest : testing::Test {
  ~DenylistTest() override {
    scope.cancel();
    context.restart();
    context.poll();
  }

  void run_for(Duration time) {
    context.restart();
    clock.run(context, clock.now() + time);
  }
  // The task's result within a millisecond; "failed" if it throws.
  std::string ask(Denylist& list, std::string token) {
    std::string got = "nothing";
    scope.spawn("ask", answer(list, std::move(token), got));
    run_for(1ms);
    return got;
  }
  static Task<> answer(Denylist& list, std::string token, std::string& got) {
    try {
      got = co_await list.denied(std::move(token)) ? "denied" : "good";
    } catch (const EngineUnavailable&) {
      got = "failed";
    }
  }
  void deny(Denylist& list, std::string token) {
    scope.spawn("deny", list.deny(std::move(token), clock.wall() + 1h));
    run_for(1ms);
  }
  void start(Denylist& list) {
    scope.spawn("load", list.load());
    run_for(1ms);
    list.start(scope);
  }

  VirtualClock clock;
  asio::io_context context;
  TaskScope scope{context.get_executor()};
  SeededRandom random{1};
  PretendDenialRecords records{clock};
  PretendDenialCopy copy;
  Denylist alone{records, nullptr, clock, random, context.get_executor()};
  Denylist sharing{records, &copy, clock, random, context.get_executor()};
};

TEST_F(DenylistTest, a_denial_holds_at_once_where_it_was_made) {
  start(alone);
  EXPECT_EQ(ask(alone, "a"), "good");
  deny(alone, "a");
  EXPECT_EQ(ask(alone, "a"), "denied");
  EXPECT_EQ(records.asked, 0);
}

TEST_F(DenylistTest, a_new_process_knows_what_was_denied_before) {
  deny(alone, "a");
  Denylist later(records, nullptr, clock, random, context.get_executor());
  start(later);
  EXPECT_EQ(ask(later, "a"), "denied");
}

TEST_F(DenylistTest, without_a_shared_copy_others_follow_within_a_second) {
  Denylist other(records, nullptr, clock, random, context.get_executor());
  start(alone);
  start(other);
  deny(alone, "a");
  run_for(1s);
  EXPECT_EQ(ask(other, "a"), "denied");
  EXPECT_EQ(records.asked, 0);
}

TEST_F(DenylistTest, with_a_shared_copy_a_denial_holds_everywhere_at_once) {
  Denylist other(records, &copy, clock, random, context.get_executor());
  start(sharing);
  deny(sharing, "a");
  EXPECT_EQ(ask(other, "a"), "denied");
}

TEST_F(DenylistTest, a_memory_that_cannot_follow_is_not_trusted) {
  start(alone);
  deny(alone, "a");
  records.down = true;
  EXPECT_EQ(ask(alone, "b"), "good");
  run_for(6s);
  EXPECT_EQ(ask(alone, "b"), "failed");
  EXPECT_EQ(ask(alone, "a"), "denied");
  records.down = false;
  EXPECT_EQ(ask(alone, "b"), "good");
}

TEST_F(DenylistTest, a_wiped_copy_revives_nobody_and_is_filled_again) {
  Denylist other(records, &copy, clock, random, context.get_executor());
  start(sharing);
  for (int i = 0; i < 3; ++i) deny(sharing, std::to_string(i));
  copy.wipe();
  EXPECT_EQ(ask(other, "1"), "denied");  // by the records; it has loaded nothing
  EXPECT_EQ(records.asked, 1);
  EXPECT_EQ(ask(sharing, "x"), "good");  // finds the copy lost
  run_for(1s);
  EXPECT_EQ(copy.tokens.size(), 3U);
  records.asked = 0;
  EXPECT_EQ(ask(other, "2"), "denied");
  EXPECT_EQ(ask(other, "x"), "good");
  EXPECT_EQ(records.asked, 0);
}

TEST_F(DenylistTest, without_the_copy_the_database_is_asked) {
  Denylist other(records, &copy, clock, random, context.get_executor());
  start(sharing);
  deny(sharing, "a");
  copy.down = true;
  EXPECT_EQ(ask(other, "a"), "denied");
  EXPECT_EQ(ask(other, "b"), "good");
  records.down = true;
  EXPECT_EQ(ask(other, "b"), "failed");
}

}  // namespace
}  // namespace sluice::coordination
