#include "messaging/dead_letters.h"

#include <boost/asio/co_spawn.hpp>
#include <gtest/gtest.h>

#include "messaging/testing/pretend_log.h"
#include "messaging/testing/pretend_outbox_dead.h"
#include "runtime/virtual_clock.h"

namespace sluice::messaging {
namespace {

using Strings = std::vector<std::string>;

class DeadLettersTest : public testing::Test {
 protected:
  void SetUp() override { run(log.declare({{"orders", 2}, {"bills", 2}, {"letters", 2}})); }

  template <class Value>
  Value run(Task<Value> task) {
    std::optional<Value> result;
    std::exception_ptr failed;
    asio::co_spawn(io, std::move(task), [&](std::exception_ptr error, Value value) {
      failed = std::move(error);
      result = std::move(value);
    });
    clock.run(io);
    if (failed) std::rethrow_exception(failed);
    return std::move(*result);
  }
  void run(Task<> task) { run(then_true(std::move(task))); }
  static Task<bool> then_true(Task<> task) {
    co_await std::move(task);
    co_return true;
  }

  // A message of `topic` that failed.
  void fail(const std::string& topic, const std::string& key, const std::string& payload, const std::string& reason,
            const std::string& group = "shop") {
    const std::string id = "018f4e1c-6d2a-7c3e-9f10-0242ac120002";
    const Position at = run(publish_one(log, {topic, key, payload, {{"message-id", id}}}));
    write(at, reason, group);
  }
  void write(const Position& origin, const std::string& reason, const std::string& group = "shop") {
    clock.advance(1min);
    const auto found = run(log.read(origin.topic, origin.partition, origin.offset, 1));
    const Failure failure{reason, "it broke", 3, clock.wall(), "worker-1"};
    run(publish_one(log, write_letter("letters", group, found.front(), failure, form)));
  }

  Strings payloads(const LetterSelection& selection = {}) {
    Strings found;
    for (const DeadLetter& letter : run(letters.list(selection, 1000)).letters) {
      found.push_back(letter.original.payload);
    }
    std::ranges::sort(found);
    return found;
  }
  // The payloads of a topic, by key.
  Strings stored(const std::string& topic) {
    Strings found;
    for (const int32_t partition : {0, 1}) {
      for (const Delivery& delivery : run(log.read(topic, partition, 0, 1000))) found.emplace_back(delivery.payload);
    }
    return found;
  }

  asio::io_context io;
  VirtualClock clock;
  PretendLog log{clock, io.get_executor()};
  DeadLetters letters{log, log, clock, {"letters"}};
  LetterForm form = LetterForm::whole;
};

TEST_F(DeadLettersTest, are_counted_by_topic_and_reason) {
  for (const std::string key : {"a", "b", "c"}) fail("orders", key, key, "API_5XX");
  fail("orders", "a", "x", "PARSE_ERROR");
  fail("bills", "a", "y", "API_5XX");
  const auto groups = run(letters.groups({}));
  ASSERT_EQ(groups.size(), 3U);
  EXPECT_EQ(groups[0].topic + " " + groups[0].reason, "orders API_5XX");
  EXPECT_EQ(groups[0].count, 3U);
  EXPECT_EQ(groups[0].newest - groups[0].oldest, 2min);
  EXPECT_EQ(run(letters.open()), (std::map<std::string, size_t>{{"letters", 5}}));
}

TEST_F(DeadLettersTest, are_selected_by_topic_reason_key_and_time) {
  fail("orders", "a", "1", "API_5XX");
  fail("orders", "b", "2", "PARSE_ERROR");
  const Time middle = clock.wall() + 1s;
  fail("bills", "a", "3", "API_5XX");
  EXPECT_EQ(payloads({.topic = "orders"}), (Strings{"1", "2"}));
  EXPECT_EQ(payloads({.reason = "API_5XX"}), (Strings{"1", "3"}));
  EXPECT_EQ(payloads({.reason = "API_5XX", .key = "a"}), (Strings{"1", "3"}));
  EXPECT_EQ(payloads({.failed_from = middle}), Strings{"3"});
  EXPECT_EQ(payloads({.failed_before = middle}), (Strings{"1", "2"}));
  EXPECT_EQ(payloads({.topic = "orders", .reason = "API_5XX"}), Strings{"1"});
}

TEST_F(DeadLettersTest, are_listed_in_pages) {
  for (int i = 0; i < 25; ++i) fail("orders", std::to_string(i), std::to_string(i), "X");
  std::optional<Position> from;
  Strings seen;
  std::vector<size_t> sizes;
  do {
    const LetterPage page = run(letters.list({}, 10, from));
    for (const DeadLetter& letter : page.letters) seen.push_back(letter.id());
    sizes.push_back(page.letters.size());
    from = page.next;
  } while (from);
  EXPECT_EQ(sizes, (std::vector<size_t>{10, 10, 5}));
  std::ranges::sort(seen);
  EXPECT_EQ(std::ranges::unique(seen).size(), 0U);
}

TEST_F(DeadLettersTest, one_is_shown_by_its_id) {
  fail("orders", "a", R"({"n": 1.0})", "X");
  const std::string id = run(letters.list({}, 1)).letters.front().id();
  const auto letter = run(letters.show(*parse_letter_id(id)));
  ASSERT_TRUE(letter);
  EXPECT_EQ(letter->original.payload, R"({"n": 1.0})");
  EXPECT_FALSE(run(letters.show({"letters", 0, 999})));
  for (const std::string wrong : {"", "letters", "letters:1", ":1:2", "letters:x:2", "letters:1:-2"}) {
    EXPECT_FALSE(parse_letter_id(wrong)) << wrong;
  }
}

TEST_F(DeadLettersTest, a_replay_publishes_the_original_as_it_was_and_settles_the_letter) {
  const std::string odd = std::string("\x00\xff not JSON", 11);
  fail("orders", "a", R"({"a" : [1, 2.50]})", "X");
  fail("orders", "b", odd, "X");
  fail("orders", "c", "null", "Y");
  const LetterProgress progress = run(letters.replay({.reason = "X"}));
  EXPECT_EQ(progress.selected, 2U);
  EXPECT_EQ(progress.settled, 2U);
  EXPECT_EQ(progress.refused, 0U);
  const Strings orders = stored("orders");
  EXPECT_EQ(std::ranges::count(orders, R"({"a" : [1, 2.50]})"), 2);
  EXPECT_EQ(std::ranges::count(orders, odd), 2);
  EXPECT_EQ(payloads(), Strings{"null"});
  const int32_t partition = partition_of("a", 2);
  const Delivery again = run(log.read("orders", partition, 0, 10)).back();
  EXPECT_EQ(again.header("message-id"), "018f4e1c-6d2a-7c3e-9f10-0242ac120002");
  EXPECT_EQ(run(letters.replay({.reason = "X"})).selected, 0U);
}

TEST_F(DeadLettersTest, a_dry_run_only_counts) {
  fail("orders", "a", "1", "X");
  EXPECT_EQ(run(letters.replay({}, {.dry_run = true})).selected, 1U);
  EXPECT_EQ(run(letters.purge({}, {.dry_run = true})).selected, 1U);
  EXPECT_EQ(payloads(), Strings{"1"});
  EXPECT_EQ(log.stored("orders"), 1U);
}

TEST_F(DeadLettersTest, progress_is_told_after_each_batch) {
  for (int i = 0; i < 250; ++i) fail("orders", "same", std::to_string(i), "X");
  std::vector<size_t> settled;
  run(letters.replay({}, {.on_progress = [&](const LetterProgress& now) { settled.push_back(now.settled); }}));
  EXPECT_EQ(settled, (std::vector<size_t>{0, 100, 200, 250}));
  // In order for the key.
  const auto orders = run(log.read("orders", partition_of("same", 2), 0, 1000));
  ASSERT_EQ(orders.size(), 500U);
  for (size_t i = 0; i < 250; ++i) EXPECT_EQ(orders[250 + i].payload, std::to_string(i));
}

TEST_F(DeadLettersTest, a_purge_gives_letters_up_and_trims_what_is_settled) {
  fail("orders", "a", "1", "X");
  fail("orders", "a", "2", "Y");
  fail("orders", "a", "3", "X");
  run(letters.purge({.reason = "X"}));
  EXPECT_EQ(payloads(), Strings{"2"});
  EXPECT_EQ(log.stored("letters"), 4U);  // 2, 3 and two marks
  run(letters.purge({}));
  EXPECT_EQ(payloads(), Strings{});
  EXPECT_EQ(log.stored("letters"), 1U);  // the last mark, which the next one trims
  EXPECT_EQ(log.stored("orders"), 3U);
}

TEST_F(DeadLettersTest, letters_of_one_message_and_group_are_one) {
  fail("orders", "a", "1", "X");
  const Position origin{"orders", partition_of("a", 2), 0};
  write(origin, "X");                   // the consumer crashed before it could commit
  write(origin, "X", "another group");  // failed for itself
  EXPECT_EQ(run(letters.open()).at("letters"), 2U);
  run(letters.replay({}));
  EXPECT_EQ(run(letters.open()).at("letters"), 0U);
  EXPECT_EQ(log.stored("orders"), 3U);
  write(origin, "X");  // and failed once more after it was settled
  EXPECT_EQ(run(letters.open()).at("letters"), 1U);
}

TEST_F(DeadLettersTest, an_original_that_did_not_fit_is_replayed_from_the_log_or_refused) {
  form = LetterForm::without_payload;
  fail("orders", "a", "large", "X");
  fail("bills", "b", "gone", "X");
  fail("bills", "b", "behind it", "X");
  run(log.trim("bills", partition_of("b", 2), 1));
  const LetterProgress progress = run(letters.replay({}));
  EXPECT_EQ(progress.settled, 1U);
  EXPECT_EQ(progress.refused, 2U);
  EXPECT_EQ(std::ranges::count(stored("orders"), "large"), 2);
  EXPECT_EQ(run(letters.open()).at("letters"), 2U);
  EXPECT_EQ(log.stored("bills"), 1U);
}

TEST_F(DeadLettersTest, one_whose_key_was_cut_is_replayed_with_the_whole_key_and_settled) {
  form = LetterForm::least;
  const std::string key(3000, 'k');
  fail("orders", key, "large", "X");
  const DeadLetter letter = run(letters.list({}, 1)).letters.front();
  EXPECT_EQ(letter.original.key, key.substr(0, max_least_key_bytes));
  EXPECT_EQ(run(letters.replay({})).settled, 1U);
  EXPECT_EQ(run(letters.open()).at("letters"), 0U);
  const auto orders = run(log.read("orders", partition_of(key, 2), 0, 10));
  ASSERT_EQ(orders.size(), 2U);
  EXPECT_EQ(orders[1].key, key);
  EXPECT_EQ(orders[1].header("message-id"), orders[0].header("message-id"));
}

TEST_F(DeadLettersTest, a_rejected_original_stays_and_those_behind_it_do_not_overtake_it) {
  fail("orders", "a", std::string(50, 'x'), "X");
  fail("orders", "a", "short", "X");
  log.largest = 49;
  const LetterProgress progress = run(letters.replay({}));
  EXPECT_EQ(progress.refused, 2U);
  EXPECT_EQ(log.stored("orders"), 2U);
  EXPECT_EQ(run(letters.open()).at("letters"), 2U);
}

TEST_F(DeadLettersTest, a_replay_that_was_cut_off_is_repeated_without_a_loss) {
  for (int i = 0; i < 150; ++i) fail("orders", "same", std::to_string(i), "X");
  int publishes = 0;
  log.fails = [&](std::string_view call) { return call == "publish" && ++publishes == 4; };  // the second batch's marks
  EXPECT_THROW(run(letters.replay({})), EngineUnavailable);
  log.fails = [](std::string_view) { return false; };
  EXPECT_EQ(run(letters.replay({})).selected, 50U);
  EXPECT_EQ(run(letters.open()).at("letters"), 0U);
  EXPECT_EQ(log.stored("orders"), 150U + 100U + 50U + 50U);
}

TEST_F(DeadLettersTest, what_somebody_else_wrote_into_the_topic_is_shown_and_can_be_purged) {
  run(publish_one(log, {"letters", "a", "hello"}));
  const auto page = run(letters.list({}, 10));
  ASSERT_EQ(page.letters.size(), 1U);
  EXPECT_EQ(page.letters.front().failure.reason, "UNREADABLE");
  EXPECT_EQ(run(letters.replay({})).refused, 1U);
  EXPECT_EQ(run(letters.purge({})).settled, 1U);
  EXPECT_EQ(run(letters.open()).at("letters"), 0U);
}

TEST_F(DeadLettersTest, settling_ends_after_so_many_and_goes_on_with_the_next_call) {
  for (int i = 0; i < 5; ++i) fail("orders", "one", std::to_string(i), "BROKEN");
  EXPECT_EQ(run(letters.purge({}, {.most = 2})).settled, 2U);
  EXPECT_EQ(payloads(), (Strings{"2", "3", "4"}));
  EXPECT_EQ(run(letters.purge({}, {.most = 9})).settled, 3U);
  EXPECT_EQ(payloads(), Strings{});
}

TEST_F(DeadLettersTest, a_replay_that_a_part_of_the_log_does_not_answer_is_repeated) {
  for (const std::string key : {"a", "b", "c", "d"}) fail("orders", key, key, "X");
  log.silent = [](const Message& message) { return message.topic == "orders" && message.key == "b"; };
  EXPECT_THROW(run(letters.replay({})), EngineUnavailable);
  EXPECT_EQ(std::ranges::count(payloads(), "b"), 1);
  log.silent = [](const Message&) { return false; };
  EXPECT_EQ(run(letters.replay({})).refused, 0U);
  EXPECT_EQ(payloads(), Strings{});
}

TEST_F(DeadLettersTest, refused_letters_do_not_hide_those_behind_them) {
  for (int i = 0; i < 3; ++i) fail("orders", "large", std::string(50, 'x'), "BROKEN");
  for (int i = 0; i < 3; ++i) fail("orders", fmt::format("key {}", i), std::to_string(i), "BROKEN");
  log.rejects = [](const Message& message) { return message.key == "large" && message.topic == "orders"; };
  size_t settled = 0;
  LetterProgress progress;
  int calls = 0;
  do {
    progress = run(letters.replay({}, {.most = 2}));
    settled += progress.settled;
    EXPECT_EQ(progress.selected, progress.settled + progress.refused + progress.remaining());
  } while (progress.remaining() > 0 && progress.settled > 0 && ++calls < 10);
  EXPECT_EQ(settled, 3U);
  EXPECT_EQ(progress.refused, 3U);
  EXPECT_EQ(run(letters.open()).at("letters"), 3U);
}

TEST_F(DeadLettersTest, one_that_was_settled_is_not_shown_and_others_are) {
  for (int i = 0; i < 3; ++i) fail("orders", "same", std::to_string(i), "X");
  const std::vector<DeadLetter> all = run(letters.list({}, 10)).letters;
  run(letters.purge({.letter = all[1].position}));
  EXPECT_FALSE(run(letters.show(all[1].position)));
  EXPECT_EQ(run(letters.show(all[2].position)).value().original.payload, "2");
  write(all[1].origin, "X");  // failed again
  EXPECT_FALSE(run(letters.show(all[1].position)));
  const Position mark{"letters", all[2].position.partition, all[2].position.offset + 2};
  EXPECT_FALSE(run(letters.show(mark)));
  EXPECT_FALSE(run(letters.show({"orders", all[0].origin.partition, 0}))) << "no topic of letters";
  EXPECT_FALSE(run(letters.show({"letters", 99, 0})));
}

TEST_F(DeadLettersTest, counting_reads_only_what_has_come_since_the_last_count) {
  for (int i = 0; i < 450; ++i) fail("orders", "same", std::to_string(i), "X");
  int reads = 0;
  log.fails = [&reads](std::string_view call) { return call == "read" && ++reads < 0; };
  const auto open = [&] {
    reads = 0;
    return run(letters.open()).at("letters");
  };
  EXPECT_EQ(open(), 450U);
  EXPECT_EQ(reads, 4);  // the last one finds the end
  EXPECT_EQ(open(), 450U);
  EXPECT_EQ(reads, 0);
  run(letters.purge({.letter = run(letters.list({.key = "same"}, 200)).letters[150].position}));
  EXPECT_EQ(open(), 449U);
  EXPECT_EQ(reads, 1);
  // A letter that retention removes is no longer open.
  const Position kept = run(letters.list({}, 200)).letters[100].position;
  run(log.trim("letters", kept.partition, kept.offset));
  EXPECT_EQ(open(), 349U);
  EXPECT_EQ(reads, 0);
}

TEST_F(DeadLettersTest, rows_that_an_outbox_gave_up_are_letters_too) {
  PretendOutboxDead first;
  PretendOutboxDead second;
  const auto row = [this](int64_t id, const std::string& key) {
    return DeadRow{id,          {"orders", "order", key, 1, "Ordered", "row " + key}, 3, "too large", clock.wall(),
                   clock.wall()};
  };
  first.rows = {row(7, "a"), row(9, "b")};
  second.rows = {row(7, "c")};
  DeadLetters all(log, log, clock, {"letters"}, {&first, &second});
  fail("orders", "d", "in the log", "BROKEN");

  EXPECT_EQ(run(all.open()), (std::map<std::string, size_t>{{"letters", 1}, {"outbox", 3}}));
  const std::vector<LetterGroup> groups = run(all.groups({}));
  ASSERT_EQ(groups.size(), 2U);
  EXPECT_EQ(groups[0].reason, "REJECTED");
  EXPECT_EQ(groups[0].count, 3U);
  Strings ids;
  std::optional<Position> from;
  do {
    const LetterPage page = run(all.list({}, 1, from));
    for (const DeadLetter& letter : page.letters) ids.push_back(letter.id());
    from = page.next;
  } while (from);
  ASSERT_EQ(ids.size(), 4U);
  EXPECT_EQ(Strings(ids.begin() + 1, ids.end()), (Strings{"outbox:0:7", "outbox:0:9", "outbox:1:7"}));
  const DeadLetter shown = run(all.show(*parse_letter_id("outbox:1:7"))).value();
  EXPECT_EQ(shown.original.payload, "row c");
  EXPECT_EQ(shown.original.topic, "orders");
  EXPECT_FALSE(shown.was_in_log());

  EXPECT_EQ(run(all.replay({.key = "b"})).settled, 1U);
  EXPECT_EQ(first.replayed, std::vector<int64_t>{9});
  EXPECT_EQ(run(all.purge({.letter = parse_letter_id("outbox:1:7")})).settled, 1U);
  EXPECT_EQ(second.discarded, std::vector<int64_t>{7});
  EXPECT_TRUE(first.discarded.empty());
}

}  // namespace
}  // namespace sluice::messaging
