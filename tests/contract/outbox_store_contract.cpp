// Contract of every messaging::OutboxStore and OutboxDead, tested on a real engine.
#include "tests/contract/outbox_store_suite.h"

namespace sluice::test {

TEST_P(OutboxStoreContract, one_relay_holds_every_bucket_and_keeps_its_fences) {
  const auto held = hold("a");
  ASSERT_EQ(held.size(), 64U);
  for (int32_t bucket = 0; bucket < 64; ++bucket) EXPECT_EQ(held[static_cast<size_t>(bucket)].bucket, bucket);
  EXPECT_EQ(hold("a"), held);
}

TEST_P(OutboxStoreContract, relays_share_fairly_and_no_bucket_twice) {
  for (int round = 0; round < 3; ++round) {
    for (const char* owner : {"a", "b", "c"}) hold(owner);
  }
  std::set<int32_t> buckets;
  std::vector<size_t> shares;
  for (const char* owner : {"a", "b", "c"}) {
    const auto held = hold(owner);
    shares.push_back(held.size());
    for (const HeldBucket& one : held) EXPECT_TRUE(buckets.insert(one.bucket).second) << one.bucket;
  }
  EXPECT_EQ(shares, (std::vector<size_t>{22, 21, 21}));
}

TEST_P(OutboxStoreContract, relays_that_ask_at_once_share_too) {
  std::set<int32_t> buckets;
  for (int round = 0; round < 3; ++round) {
    std::vector<Task<std::vector<HeldBucket>>> asking;
    for (int i = 0; i < 8; ++i) asking.push_back(store_->hold(fmt::format("relay {}", i), 1min));
    buckets.clear();
    for (const auto& held : values_of(std::move(asking))) {
      for (const HeldBucket& one : held) buckets.insert(one.bucket);
    }
  }
  EXPECT_EQ(buckets.size(), 64U);
  for (int i = 0; i < 8; ++i) EXPECT_EQ(hold(fmt::format("relay {}", i)).size(), 8U);
}

TEST_P(OutboxStoreContract, a_silent_relays_buckets_are_taken_over_after_its_ttl_with_a_new_fence) {
  const auto asked = std::chrono::steady_clock::now();
  const auto old = hold("silent", 300ms);
  std::vector<HeldBucket> held = hold("other");
  if (!held.empty()) EXPECT_GE(std::chrono::steady_clock::now() - asked, 299ms);  // this machine stood still
  ASSERT_TRUE(eventually([&] { return (held = hold("other")).size() == 64; }));
  EXPECT_GE(std::chrono::steady_clock::now() - asked, 299ms);
  for (size_t i = 0; i < held.size(); ++i) EXPECT_GT(held[i].fence, old[i].fence);
}

TEST_P(OutboxStoreContract, released_buckets_are_free_at_once) {
  hold("a");
  run(store_->release("a"));
  EXPECT_EQ(hold("b").size(), 64U);
}

TEST_P(OutboxStoreContract, rows_come_in_the_order_of_their_aggregate_until_they_are_marked) {
  for (const char* aggregate : {"a", "b", "a", "c", "b", "a"}) append(aggregate);
  hold_all();
  EXPECT_EQ(told(read()), "a1 a2 a3 b1 b2 c1");
  EXPECT_EQ(told(read()), "a1 a2 a3 b1 b2 c1");
  mark(read(held_, {1, 1}));
  EXPECT_EQ(read().size(), 5U);
  mark(read());
  EXPECT_TRUE(read().empty());
}

TEST_P(OutboxStoreContract, a_batch_never_leaves_out_an_earlier_row_of_its_aggregates) {
  for (int i = 0; i < 40; ++i) append(std::string(1, static_cast<char>('a' + i % 7)));
  hold_all();
  std::map<std::string, int64_t> last;
  while (true) {
    const std::vector<Row> batch = read(held_, {6, 3});
    if (batch.empty()) break;
    EXPECT_LE(batch.size(), 6U);
    for (const Row& row : batch) EXPECT_EQ(version_of(row), ++last[row.message.key]);
    mark(batch);
  }
  EXPECT_EQ(last, versions_);
}

TEST_P(OutboxStoreContract, a_busy_bucket_leaves_room_for_others_and_buckets_come_in_the_order_asked_for) {
  for (int i = 0; i < 30; ++i) append("a");
  append("b");
  hold_all();
  EXPECT_EQ(told(read(held_, {100, 3})), "a1 a2 a3 b1");
  const int32_t of_a =
      read(held_, {100, 1})[0].message.key == "a" ? read()[0].mark.held.bucket : read().back().mark.held.bucket;
  std::ranges::rotate(held_, std::ranges::find(held_, of_a, &HeldBucket::bucket));
  EXPECT_EQ(told(read(held_, {2, 3})), "a1 a2");
  std::ranges::rotate(held_, held_.begin() + 1);
  EXPECT_EQ(told(read(held_, {2, 3})), "a1 b1");
}

TEST_P(OutboxStoreContract, a_batch_ends_with_the_row_that_reaches_its_bytes) {
  for (int i = 0; i < 5; ++i) append("a");
  append("b");
  hold_all();
  const size_t size = message("a").payload.size() + std::string_view("{}").size();  // and its headers
  const auto ids = [this](size_t bytes) {
    std::vector<int64_t> numbers;
    for (const Row& row : read(held_, {100, 100, bytes})) numbers.push_back(row.mark.id);
    return numbers;
  };
  const std::vector<int64_t> all = ids(1 << 20);
  ASSERT_EQ(all.size(), 6U);
  for (const size_t rows : {1U, 2U, 5U}) {
    const auto some = static_cast<std::ptrdiff_t>(rows);
    EXPECT_EQ(ids(rows * size), std::vector(all.begin(), all.begin() + some));
    EXPECT_EQ(ids(rows * size - 1), std::vector(all.begin(), all.begin() + some));
  }
}

TEST_P(OutboxStoreContract, large_messages_do_not_come_a_hundred_at_once) {
  for (int i = 1; i <= 12; ++i) {
    auto large = message("a", i);
    large.payload.assign(1 << 20, 'x');
    OutboxContract::append(large);
  }
  hold_all();
  const std::vector<Row> first = read(held_, {});
  EXPECT_EQ(told(first), "a1 a2 a3 a4 a5 a6 a7 a8");
  mark(first);
  EXPECT_EQ(told(read(held_, {})), "a9 a10 a11 a12");
}

TEST_P(OutboxStoreContract, aggregates_can_be_left_out) {
  for (const char* aggregate : {"a", "b", "a", "c", "\"}{"}) append(aggregate);
  hold_all();
  EXPECT_EQ(told(read(held_, {10, 10}, 0, {"payment/a", "payment/\"}{"})), "b1 c1");
}

TEST_P(OutboxStoreContract, only_rows_of_the_held_buckets_come) {
  for (int i = 0; i < 100; ++i) append(fmt::format("{}", i));
  hold("a");
  hold("b");
  hold("a");
  const auto of_a = read(hold("a"));
  const auto of_b = read(hold("b"));
  EXPECT_EQ(of_a.size() + of_b.size(), 100U);
  EXPECT_GT(of_a.size(), 10U);
  EXPECT_GT(of_b.size(), 10U);
}

TEST_P(OutboxStoreContract, a_scan_goes_on_behind_an_id) {
  for (int i = 0; i < 3; ++i) append("a");
  hold_all();
  const std::vector<Row> rows = read();
  EXPECT_EQ(told(read(held_, {10, 10}, rows[0].mark.id)), "a2 a3");
  EXPECT_TRUE(read(held_, {10, 10}, rows[2].mark.id).empty());
}

TEST_P(OutboxStoreContract, an_old_fence_reads_and_changes_nothing) {
  append("a");
  hold_all();
  const std::vector<Row> rows = read();
  run(store_->release("relay"));
  const auto newer = hold("other");
  EXPECT_TRUE(read(held_).empty());
  mark(rows);
  EXPECT_EQ(refuse(rows[0]), Refusal::nothing);
  EXPECT_EQ(told(read(newer)), "a1");
}

TEST_P(OutboxStoreContract, a_mark_under_a_wrong_bucket_changes_nothing) {
  append("a");
  hold_all();
  std::vector<Row> rows = read();
  rows[0].mark.held = held_[rows[0].mark.held.bucket == 0 ? 1 : 0];
  mark(rows);
  EXPECT_EQ(read().size(), 1U);
}

TEST_P(OutboxStoreContract, a_row_refused_three_times_is_dead_and_its_aggregate_waits) {
  for (const char* aggregate : {"a", "b", "a"}) append(aggregate);
  hold_all();
  const Row first = read()[0].message.key == "a" ? read()[0] : read()[1];
  EXPECT_EQ(refuse(first), Refusal::counted);
  EXPECT_EQ(refuse(first), Refusal::counted);
  EXPECT_EQ(told(read()), "a1 a2 b1");
  EXPECT_EQ(refuse(first), Refusal::dead);
  EXPECT_EQ(refuse(first), Refusal::nothing);
  EXPECT_EQ(told(read()), "b1");
  append("a");
  EXPECT_EQ(told(read()), "b1");
  const auto dead = run(dead_->list(0, 10));
  ASSERT_EQ(dead.size(), 1U);
  EXPECT_EQ(dead[0].id, first.mark.id);
  EXPECT_EQ(dead[0].reason, "too large");
  EXPECT_EQ(dead[0].tries, 3);
  EXPECT_EQ(dead[0].message.aggregate_id, "a");
  EXPECT_EQ(lag().dead, 1);
}

TEST_P(OutboxStoreContract, a_row_with_broken_headers_says_so_and_can_be_refused_listed_and_discarded) {
  for (const char* aggregate : {"a", "b"}) append(aggregate);
  for (const char* text : {R"({"a":1})", "[]", "{", ""}) {
    run(database().write("UPDATE outbox_events SET headers = $1 WHERE aggregate_id = 'a'",
                         sql::Params(std::string(text))));
    hold_all();
    const std::vector<Row> rows = read();
    ASSERT_EQ(rows.size(), 2U);
    for (const Row& row : rows) EXPECT_EQ(row.unreadable.empty(), row.message.key == "b") << text;
  }
  for (int i = 0; i < 3; ++i) {
    for (const Row& row : read()) {
      if (!row.unreadable.empty()) refuse(row);
    }
  }
  const auto dead = run(dead_->list(0, 10));
  ASSERT_EQ(dead.size(), 1U);
  EXPECT_TRUE(run(dead_->discard(dead[0].id)));
}

TEST_P(OutboxStoreContract, a_replayed_row_comes_before_its_aggregates_later_ones_under_a_new_fence) {
  hold_all();
  kill("a");
  append("a");
  append("a");
  const int64_t id = run(dead_->list(0, 10))[0].id;
  EXPECT_TRUE(run(dead_->replay(id)));
  EXPECT_FALSE(run(dead_->replay(id)));
  EXPECT_TRUE(read(held_).empty()) << "who has read past the waiting rows must begin again";
  held_ = hold("relay");
  EXPECT_EQ(told(read()), "a1 a2 a3");
  EXPECT_EQ(read()[0].mark.id, id);
  EXPECT_EQ(refuse(read()[0]), Refusal::counted) << "its tries start anew";
}

TEST_P(OutboxStoreContract, a_row_replayed_by_many_at_once_comes_back_once) {
  hold_all();
  kill("a");
  const int64_t id = run(dead_->list(0, 10))[0].id;
  std::vector<Task<bool>> replays;
  for (int i = 0; i < 5; ++i) replays.push_back(dead_->replay(id));
  const std::vector<bool> done = values_of(std::move(replays));
  EXPECT_EQ(std::ranges::count(done, true), 1);
  held_ = hold("relay");
  EXPECT_EQ(told(read()), "a1");
}

TEST_P(OutboxStoreContract, after_a_discarded_row_its_aggregate_goes_on) {
  hold_all();
  kill("a");
  append("a");
  EXPECT_TRUE(run(dead_->discard(run(dead_->list(0, 10))[0].id)));
  held_ = hold("relay");
  EXPECT_EQ(told(read()), "a2");
  EXPECT_TRUE(run(dead_->list(0, 10)).empty());
}

TEST_P(OutboxStoreContract, lag_is_what_is_unpublished_and_its_oldest) {
  EXPECT_EQ(lag().unpublished, 0);
  EXPECT_FALSE(lag().oldest);
  for (const char* aggregate : {"a", "b", "c"}) append(aggregate);
  EXPECT_EQ(lag().unpublished, 3);
  const sql::Rows oldest = run(database().read("SELECT min(created_at) FROM outbox_events"));
  EXPECT_EQ(lag().oldest, oldest.one().time(0));
  hold_all();
  mark(read(held_, {1, 1}));
  EXPECT_EQ(lag().unpublished, 2);
}

TEST_P(OutboxStoreContract, lag_is_counted_in_the_given_buckets_behind_the_given_places) {
  for (int i = 0; i < 3; ++i) append("a");
  append("b");
  hold_all();
  const std::vector<Row> rows = read();
  const Row& first = *std::ranges::find(rows, "a", [](const Row& row) { return row.message.key; });
  EXPECT_EQ(lag(first.mark.id).unpublished, 3) << "a2, a3, b1";
  EXPECT_EQ(run(store_->lag({{first.mark.held, first.mark.id}})).unpublished, 2);
  EXPECT_EQ(run(store_->lag({})).unpublished, 0);
}

TEST_P(OutboxStoreContract, what_waits_behind_a_dead_row_is_no_lag) {
  hold_all();
  kill("a");
  append("a");
  append("b");
  EXPECT_EQ(lag().unpublished, 1);
  EXPECT_EQ(lag().dead, 1);
  EXPECT_EQ(run(store_->lag({})).dead, 0);
}

TEST_P(OutboxStoreContract, sweeping_removes_what_was_published_long_ago_and_nothing_else) {
  for (int i = 0; i < 25; ++i) append(i % 5 == 0 ? "a" : "b");
  hold_all();
  std::vector<Row> done = read();
  std::erase_if(done, [](const Row& row) { return row.message.key == "a"; });
  mark(done);
  EXPECT_FALSE(run(store_->sweep(0, 1000, 1h)));
  EXPECT_EQ(rows_left(), 25);
  std::optional<int64_t> next = 0;
  int batches = 0;
  for (; next; ++batches) next = run(store_->sweep(*next, 10, 0s));
  EXPECT_EQ(rows_left(), 5);
  EXPECT_EQ(batches, 3);
  EXPECT_EQ(told(read()), "a1 a2 a3 a4 a5");
}

}  // namespace sluice::test
