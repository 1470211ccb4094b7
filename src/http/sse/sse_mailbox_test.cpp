#include "http/sse/sse_mailbox.h"

#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sluice::http {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

SseMailbox::Letter letter(std::string topic, std::string subscriber, size_t size) {
  return {std::move(topic), std::move(subscriber), std::make_shared<const std::string>(size, 'x')};
}

struct SseMailboxTest : testing::Test {
  void put(SseMailbox& box, SseMailbox::Letter what) {
    box.put(std::move(what), [this] { ++woken; });
  }

  int woken = 0;
};

TEST_F(SseMailboxTest, letters_keep_their_order_and_wake_once) {
  SseMailbox box(1 << 20);
  for (size_t i = 1; i <= 3; ++i) put(box, letter("a", "", i));
  EXPECT_EQ(woken, 1);
  for (size_t i = 1; i <= 3; ++i) {
    const SseMailbox::Mail mail = box.take();
    ASSERT_TRUE(mail.letter);
    EXPECT_EQ(mail.letter->frame->size(), i);
  }
  put(box, letter("a", "", 4));
  EXPECT_EQ(woken, 1);  // the reader has not seen the end yet
  EXPECT_TRUE(box.take().letter);
  EXPECT_FALSE(box.take().letter);
  put(box, letter("a", "", 5));
  EXPECT_EQ(woken, 2);
}

TEST_F(SseMailboxTest, who_would_miss_a_letter_is_known_before_any_other_is_taken) {
  SseMailbox box(2000);
  put(box, letter("a", "", 1500));
  put(box, letter("b", "kim", 1000));
  put(box, letter("b", "kim", 1000));
  put(box, letter("c", "", 1000));
  put(box, letter("d", "", 10));
  const SseMailbox::Mail first = box.take();
  EXPECT_THAT(first.missed, ElementsAre(Pair("b", "kim"), Pair("c", "")));
  EXPECT_FALSE(first.everybody_missed);
  EXPECT_EQ(first.letter->topic, "a");
  const SseMailbox::Mail second = box.take();
  EXPECT_THAT(second.missed, IsEmpty());
  EXPECT_EQ(second.letter->topic, "d");
}

TEST_F(SseMailboxTest, that_somebody_is_replaced_is_known_as_such_where_there_is_no_room) {
  SseMailbox box(2000);
  put(box, letter("a", "", 2000));
  put(box, {"b", "kim", nullptr, 7});
  put(box, {"b", "kim", nullptr, 5});
  put(box, letter("b", "lee", 1000));
  const SseMailbox::Mail mail = box.take();
  EXPECT_THAT(mail.replaced, ElementsAre(Pair(Pair("b", "kim"), 7)));
  EXPECT_THAT(mail.missed, ElementsAre(Pair("b", "lee")));
  EXPECT_THAT(box.take().replaced, IsEmpty());
}

TEST_F(SseMailboxTest, there_is_room_again_for_what_was_taken) {
  SseMailbox box(2000);
  for (int i = 0; i < 100; ++i) {
    put(box, letter("a", "", 1500));
    const SseMailbox::Mail mail = box.take();
    EXPECT_TRUE(mail.letter);
    EXPECT_THAT(mail.missed, IsEmpty());
  }
}

TEST_F(SseMailboxTest, a_single_letter_always_fits) {
  SseMailbox box(2000);
  put(box, letter("a", "", 1 << 20));
  EXPECT_TRUE(box.take().letter);
}

TEST_F(SseMailboxTest, when_too_many_miss_something_it_is_everybody) {
  SseMailbox box(2000);
  put(box, letter("a", "", 2000));
  for (size_t i = 0; i < SseMailbox::max_missed + 10; ++i) put(box, letter("a", std::to_string(i), 100));
  const SseMailbox::Mail mail = box.take();
  EXPECT_TRUE(mail.everybody_missed);
  EXPECT_THAT(mail.missed, IsEmpty());
  EXPECT_FALSE(box.take().everybody_missed);
}

TEST_F(SseMailboxTest, nothing_wakes_and_nothing_comes_after_the_end) {
  SseMailbox box(2000);
  put(box, letter("a", "", 10));
  box.close();
  EXPECT_FALSE(box.take().letter);
  put(box, letter("a", "", 10));
  EXPECT_EQ(woken, 1);
  EXPECT_FALSE(box.take().letter);
}

TEST(SseMailboxThreads, every_letter_is_taken_or_its_reader_is_known_to_miss_it) {
  constexpr int publishers = 3;
  constexpr int letters = 5000;
  SseMailbox box(20'000);
  std::atomic<int> wakes{0};
  std::atomic<int> finished{0};
  std::array<std::atomic<uint64_t>, publishers> published{};
  std::vector<std::thread> threads;
  for (int p = 0; p < publishers; ++p) {
    threads.emplace_back([&, p] {
      for (uint64_t i = 1; i <= letters; ++i) {
        published[p] = i;
        box.put({std::to_string(p), "", std::make_shared<const std::string>(), i}, [&wakes] { ++wakes; });
      }
      ++finished;
    });
  }
  // A reader that missed an event reconnects, and its owner tells it the state until then.
  std::array<uint64_t, publishers> known{};
  for (bool more = true; more;) {
    const bool over = finished == publishers;
    const SseMailbox::Mail mail = box.take();
    for (const auto& [topic, subscriber] : mail.missed) known[std::stoul(topic)] = published[std::stoul(topic)];
    if (mail.letter) {
      uint64_t& before = known[std::stoul(mail.letter->topic)];
      EXPECT_LE(mail.letter->generation, before + 1);
      before = std::max(before, mail.letter->generation);
    }
    more = mail.letter || !over;
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_GE(wakes, 1);
}

}  // namespace
}  // namespace sluice::http
