#include "coordination/recent_copies.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "coordination/near_cache.h"
#include "runtime/task_scope.h"
#include "runtime/virtual_clock.h"
#include "runtime/wakeup.h"

namespace sluice::coordination {
namespace {

CacheEntry entry(std::string text) {
  return {std::make_shared<const std::string>(std::move(text)), 1h, 1h, 1ms};
}

struct RecentCopiesTest : testing::Test {
  void put(const std::string& key, size_t bytes) { copies.put(key, entry(std::string(bytes, 'x'))); }

  VirtualClock clock;
  RecentCopies copies{clock, 160'000};
};

TEST_F(RecentCopiesTest, never_hold_more_than_their_bytes) {
  for (int i = 0; i < 1000; ++i) put(fmt::format("key {}", i), 1000);
  EXPECT_LE(copies.bytes(), 160'000U);
  EXPECT_GT(copies.bytes(), 100'000U);
}

TEST_F(RecentCopiesTest, what_is_used_stays) {
  put("used", 1000);
  for (int i = 0; i < 1000; ++i) {
    put(fmt::format("key {}", i), 1000);
    ASSERT_TRUE(copies.find("used")) << i;
  }
}

TEST_F(RecentCopiesTest, a_body_too_large_to_keep_drives_nothing_out) {
  put("small", 1000);
  put("small", 100'000);
  EXPECT_FALSE(copies.find("small"));
  for (int i = 0; i < 16; ++i) put(fmt::format("key {}", i), 500);
  const size_t before = copies.bytes();
  put("large", 100'000);
  EXPECT_EQ(copies.bytes(), before);
}

TEST_F(RecentCopiesTest, what_was_fetched_before_a_removal_does_not_come_in_after_it) {
  const uint64_t before = copies.generation("key");
  copies.remove("key");
  copies.put_since(before, "key", entry("old"));
  EXPECT_FALSE(copies.find("key"));
  copies.put_since(copies.generation("key"), "key", entry("new"));
  EXPECT_TRUE(copies.find("key"));
}

// A store whose answers can be held back.
class SlowStore : public CacheStore {
 public:
  explicit SlowStore(const Executor& executor) : gate_(executor) {}

  std::optional<CachedCopy> peek(std::string_view) override { return std::nullopt; }
  Task<CacheAnswer> look_up(std::string, TicketWish) override {
    ++looks;
    const CacheAnswer answer{CachedCopy{body, 1h, 1ms}, false};
    if (held) co_await gate_.wait();
    co_return answer;
  }
  Task<bool> fill(std::string, LoadTicket, CacheEntry) override { co_return true; }
  Task<> give_up(std::string, LoadTicket) override { co_return; }
  Task<> put(std::string, CacheEntry) override { co_return; }
  Task<> remove(std::string) override { co_return; }

  void open() { gate_.notify_all(); }

  bool held = false;
  int looks = 0;
  CacheBody body = std::make_shared<const std::string>("body");

 private:
  Wakeup gate_;
};

struct NearCacheTest : testing::Test {
  ~NearCacheTest() override {
    scope.cancel();
    context.restart();
    context.poll();
  }

  void run() {
    context.restart();
    context.poll();
  }
  static Task<> look_task(NearCache& near) { co_await near.look_up("key", {}); }
  void look() {
    scope.spawn("look", look_task(near));
    run();
  }
  bool at_hand() { return near.peek("key").has_value(); }

  VirtualClock clock;
  asio::io_context context;
  TaskScope scope{context.get_executor()};
  SlowStore store{context.get_executor()};
  NearCache near{store, clock};
};

TEST_F(NearCacheTest, keeps_at_hand_what_it_found_for_a_few_seconds) {
  near.listening();
  EXPECT_FALSE(at_hand());
  look();
  EXPECT_TRUE(at_hand());
  clock.advance(6s);
  EXPECT_FALSE(at_hand());
}

TEST_F(NearCacheTest, keeps_nothing_while_it_cannot_hear_of_changes) {
  look();
  EXPECT_FALSE(at_hand());
  near.listening();
  look();
  EXPECT_TRUE(at_hand());
  near.interrupted();
  EXPECT_FALSE(at_hand());
  look();
  EXPECT_FALSE(at_hand());
}

TEST_F(NearCacheTest, drops_what_changed_elsewhere) {
  near.listening();
  look();
  near.changed("key");
  EXPECT_FALSE(at_hand());
}

TEST_F(NearCacheTest, an_answer_older_than_a_change_is_not_kept) {
  near.listening();
  store.held = true;
  look();
  near.changed("key");
  store.open();
  run();
  EXPECT_EQ(store.looks, 1);
  EXPECT_FALSE(at_hand());
}

TEST_F(NearCacheTest, an_answer_asked_for_while_deaf_is_not_kept) {
  store.held = true;
  look();
  near.listening();
  store.open();
  run();
  EXPECT_FALSE(at_hand());
}

TEST_F(NearCacheTest, its_own_removal_is_seen_at_once) {
  near.listening();
  look();
  scope.spawn("remove", near.remove("key"));
  run();
  EXPECT_FALSE(at_hand());
}

}  // namespace
}  // namespace sluice::coordination
