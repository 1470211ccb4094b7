// Contract of every messaging::OutboxStore for a log that loses acknowledged messages, tested on a real engine.
#include "tests/contract/outbox_loss_suite.h"

namespace sluice::test {

TEST_P(OutboxLossContract, a_log_that_lost_its_life_gets_everything_again) {
  hold_all();
  EXPECT_FALSE(remember({"life 1", "run 1"}));
  for (const char* aggregate : {"a", "b", "a"}) append(aggregate);
  mark(read());
  EXPECT_FALSE(remember({"life 1", "run 1"}));
  EXPECT_TRUE(read().empty());
  EXPECT_TRUE(remember({"life 2", "run 1"}));
  EXPECT_TRUE(read(held_).empty()) << "under the old fence";
  held_ = hold("relay");
  EXPECT_EQ(told(read()), "a1 a2 b1");
  EXPECT_FALSE(remember({"life 2", "run 1"}));
  EXPECT_EQ(run(store_->topics()), (std::vector<std::string>{"payment.events"}));
}

TEST_P(OutboxLossContract, what_was_acknowledged_before_the_loss_and_marked_after_it_is_published_again) {
  hold_all();
  remember({"life 1", "run 1"});
  append("a");
  const std::vector<Row> acknowledged = read();
  remember({"life 2", "run 1"});
  mark(acknowledged);
  held_ = hold("relay");
  EXPECT_EQ(told(read()), "a1");
}

TEST_P(OutboxLossContract, a_log_that_lost_its_run_gets_again_what_was_published_since_it_was_last_seen) {
  hold_all();
  append("a");
  mark(read());
  remember({"life 1", "run 1"});
  append("b");
  mark(read());
  EXPECT_TRUE(remember({"life 1", "run 2"}, 0s));
  held_ = hold("relay");
  EXPECT_EQ(told(read()), "b1");
  EXPECT_TRUE(remember({"life 1", "run 3"}, 1min));
  held_ = hold("relay");
  EXPECT_EQ(told(read()), "a1 b1");
}

TEST_P(OutboxLossContract, nothing_is_read_until_what_a_relay_left_of_a_loss_is_worked_off) {
  hold_all();
  remember({"life 1", "run 1"});
  append("a");
  mark(read());
  append("b");
  run(database().write("UPDATE outbox_topics SET lost_since = seen_at"));
  EXPECT_TRUE(read().empty());
  EXPECT_FALSE(remember({"life 1", "run 1"})) << "the fences have grown with the loss";
  EXPECT_EQ(told(read()), "a1 b1");
  EXPECT_FALSE(remember({"life 1", "run 1"}));
  mark(read());
  EXPECT_TRUE(read().empty());
}

TEST_P(OutboxLossContract, a_loss_goes_on_where_a_killed_relay_left_it) {
  remember({"life 1", "run 1"});
  publish(1, 25'000);
  for (int steps = 0; steps <= 3; ++steps) {
    const Memory memory{fmt::format("life after {}", steps), "run 1"};
    // It looks, notes the loss, and takes its steps.
    EXPECT_THROW(remember_and_die(memory, 2 + steps), EngineUnavailable);
    EXPECT_EQ(unpublished(), std::min(25'000, steps * 10'000));
    hold_all();
    EXPECT_TRUE(read().empty());
    EXPECT_FALSE(remember(memory)) << "the fences have grown with the loss";
    EXPECT_EQ(unpublished(), 25'000);
    EXPECT_FALSE(read(held_, {1, 1}).empty());
    publish_all();
  }
}

TEST_P(OutboxLossContract, a_loss_during_a_loss_begins_again) {
  remember({"life 1", "run 1"});
  publish(1, 25'000);
  EXPECT_THROW(remember_and_die({"life 2", "run 1"}, 4), EngineUnavailable);
  EXPECT_TRUE(remember({"life 2", "run 2"}, 0s)) << "all that the first one took, though the second took little";
  EXPECT_EQ(unpublished(), 25'000);
}

TEST_P(OutboxLossContract, relays_that_notice_a_loss_at_once_work_it_off_together) {
  remember({"life 1", "run 1"});
  publish(1, 25'000);
  std::vector<Task<bool>> relays;
  for (int i = 0; i < 4; ++i) relays.push_back(store_->remember("payment.events", {"life 2", "run 1"}, 1min));
  const std::vector<bool> lost = values_of(std::move(relays));
  EXPECT_EQ(std::ranges::count(lost, true), 1);
  EXPECT_EQ(unpublished(), 25'000);
  hold_all();
  EXPECT_FALSE(read(held_, {1, 1}).empty());
}

TEST_P(OutboxLossContract, aggregates_keep_their_order_while_a_loss_is_worked_off) {
  remember({"life 1", "run 1"});
  publish(1, 12'000);
  EXPECT_THROW(remember_and_die({"life 2", "run 1"}, 3), EngineUnavailable);
  add(12'001, 12'200);
  hold_all();
  EXPECT_TRUE(read().empty()) << "neither what is unpublished again nor what is new";
  remember({"life 2", "run 1"});
  std::map<std::string, int64_t> last;
  for (std::vector<Row> batch = read(); !batch.empty(); batch = read()) {
    for (const Row& row : batch) {
      EXPECT_EQ(version_of(row), last[row.message.key] + 1);
      last[row.message.key] = version_of(row);
    }
    mark(batch);
  }
  EXPECT_EQ(last.size(), 64U);
  for (const auto& [aggregate, version] : last) EXPECT_GE(version, 12'200 / 64) << aggregate;
  EXPECT_EQ(unpublished(), 0);
}

TEST_P(OutboxLossContract, other_topics_are_not_published_again) {
  hold_all();
  run(store_->remember("event.events", {"life 1", "run 1"}, 1min));
  append("a");
  mark(read());
  EXPECT_TRUE(run(store_->remember("event.events", {"life 2", "run 1"}, 1min)));
  held_ = hold("relay");
  EXPECT_TRUE(read().empty());
}

}  // namespace sluice::test
