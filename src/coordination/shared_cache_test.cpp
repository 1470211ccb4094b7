#include "coordination/shared_cache.h"

#include <set>

#include <gtest/gtest.h>

#include "coordination/testing/pretend_cache_store.h"
#include "runtime/virtual_clock.h"

namespace sluice::coordination {
namespace {

CacheBody body(std::string text) {
  return std::make_shared<const std::string>(std::move(text));
}

// The source: answers after a while, or fails.
struct Source {
  Clock& clock;
  Duration takes = 100ms;
  bool broken = false;
  CacheBody answer = body("loaded");
  int loads = 0;

  Task<CacheBody> load() {
    ++loads;
    const CacheBody read = answer;
    co_await clock.sleep_for(takes);
    if (broken) throw std::runtime_error("broken");
    co_return read;
  }
};

struct SharedCacheTest : testing::Test {
  ~SharedCacheTest() override {
    scope.cancel();
    context.restart();
    context.poll();
  }

  SharedCache::Loader loader() {
    return [this] { return source.load(); };
  }
  // Stores the result in `got`: a text, "none", or the thrown error.
  Task<> read(std::string key, std::string& got) {
    try {
      const CacheBody found = co_await cache.load(key, loader());
      got = found ? *found : "none";
    } catch (const std::exception& error) {
      got = error.what();
    }
  }
  std::string load(std::string key = "key") {
    std::string got;
    scope.spawn("reader", read(std::move(key), got));
    run_for(20s);
    return got;
  }
  void run_for(Duration time) {
    context.restart();
    clock.run(context, clock.now() + time);
  }

  VirtualClock clock;
  asio::io_context context;
  TaskScope scope{context.get_executor()};
  SeededRandom random{1};
  PretendCacheStore store{clock};
  Source source{clock};
  CacheConfig config;
  SharedCache cache{store, config, clock, random, scope, context.get_executor()};
};

TEST_F(SharedCacheTest, a_crowd_costs_one_load) {
  std::vector<std::string> got(100);
  for (std::string& one : got) scope.spawn("reader", read("key", one));
  run_for(1s);
  EXPECT_EQ(got, std::vector<std::string>(100, "loaded"));
  EXPECT_EQ(source.loads, 1);
}

TEST_F(SharedCacheTest, the_second_reader_gets_the_copy) {
  load();
  EXPECT_EQ(load(), "loaded");
  EXPECT_EQ(source.loads, 1);
}

TEST_F(SharedCacheTest, failures_are_told_and_not_remembered) {
  source.broken = true;
  EXPECT_EQ(load(), "broken");
  source.broken = false;
  EXPECT_EQ(load(), "loaded");
  EXPECT_EQ(source.loads, 2);
}

TEST_F(SharedCacheTest, that_there_is_none_is_remembered_for_its_own_time) {
  source.answer = nullptr;
  EXPECT_EQ(load(), "none");
  EXPECT_EQ(load(), "none");
  EXPECT_EQ(source.loads, 1);
  EXPECT_LE(store.fresh_for("key"), 30s);
}

TEST_F(SharedCacheTest, times_are_jittered_and_never_longer) {
  std::set<Duration> seen;
  for (int i = 0; i < 20; ++i) {
    load(std::to_string(i));
    const Duration fresh_for = store.fresh_for(std::to_string(i));
    EXPECT_LE(fresh_for, 5min);
    EXPECT_GE(fresh_for, 4min + 30s);
    seen.insert(fresh_for);
  }
  EXPECT_GT(seen.size(), 15U);
}

TEST_F(SharedCacheTest, what_is_put_may_have_a_time_of_its_own) {
  scope.spawn("put", cache.put("key", body("put"), 10s));
  run_for(1ms);
  EXPECT_LE(store.fresh_for("key"), 10s);
  EXPECT_GE(store.fresh_for("key"), 9s);
  EXPECT_EQ(load(), "put");
}

TEST_F(SharedCacheTest, a_stale_copy_is_served_at_once_and_renewed_behind) {
  load();
  run_for(5min);
  source.answer = body("newer");
  source.takes = 3s;
  std::string got;
  scope.spawn("reader", read("key", got));
  run_for(1ms);
  EXPECT_EQ(got, "loaded");
  run_for(5s);
  EXPECT_EQ(load(), "newer");
  EXPECT_EQ(source.loads, 2);
}

TEST_F(SharedCacheTest, a_stale_copy_outlives_a_broken_source) {
  load();
  run_for(5min);
  source.broken = true;
  EXPECT_EQ(load(), "loaded");
  EXPECT_EQ(load(), "loaded");
}

TEST_F(SharedCacheTest, dear_copies_are_renewed_before_they_end) {
  source.takes = 2s;
  load();
  std::string got;
  int renewed_at = 0;
  while (renewed_at < 300 && source.loads == 1) {
    scope.spawn("reader", read("key", got));
    run_for(1s);
    ++renewed_at;
  }
  EXPECT_EQ(source.loads, 2);
  EXPECT_LT(renewed_at, 295);
  EXPECT_GT(renewed_at, 200);
}

TEST_F(SharedCacheTest, another_instances_load_is_waited_for) {
  store.claim_elsewhere("key");
  std::string got;
  scope.spawn("reader", read("key", got));
  run_for(1s);
  EXPECT_EQ(got, "");
  scope.spawn("elsewhere", store.put("key", {body("from elsewhere"), 1min, 1min, 1ms}));
  run_for(300ms);
  EXPECT_EQ(got, "from elsewhere");
  EXPECT_EQ(source.loads, 0);
}

TEST_F(SharedCacheTest, but_not_for_ever) {
  store.claim_elsewhere("key");
  EXPECT_EQ(load(), "load of a cached answer: timed out");
}

TEST_F(SharedCacheTest, a_loader_that_hangs_is_ended) {
  source.takes = 1h;
  EXPECT_EQ(load(), "load of a cached answer: timed out");
  source.takes = 1ms;
  EXPECT_EQ(load(), "loaded");
}

TEST_F(SharedCacheTest, who_asks_after_a_removal_does_not_share_a_load_begun_before) {
  std::string before;
  std::string after;
  scope.spawn("reader", read("key", before));
  run_for(10ms);
  source.answer = body("changed");
  scope.spawn("remove", cache.remove("key"));
  run_for(1ms);
  scope.spawn("reader", read("key", after));
  run_for(1s);
  EXPECT_EQ(before, "loaded");
  EXPECT_EQ(after, "changed");
  EXPECT_EQ(load(), "changed");
  EXPECT_EQ(source.loads, 2);
}

TEST_F(SharedCacheTest, without_its_store_each_process_loads_for_itself) {
  store.down = true;
  std::vector<std::string> got(10);
  for (std::string& one : got) scope.spawn("reader", read("key", one));
  run_for(1s);
  EXPECT_EQ(got, std::vector<std::string>(10, "loaded"));
  EXPECT_EQ(source.loads, 1);
  store.down = false;
  load();
  EXPECT_EQ(source.loads, 2);
}

TEST_F(SharedCacheTest, the_reader_who_started_a_load_may_leave) {
  std::string got;
  {
    TaskScope leaving(context.get_executor());
    std::string unheard;
    leaving.spawn("reader", read("key", unheard));
    run_for(10ms);
    scope.spawn("reader", read("key", got));
    leaving.cancel();
    run_for(1ms);
  }
  run_for(1s);
  EXPECT_EQ(got, "loaded");
  EXPECT_EQ(source.loads, 1);
}

}  // namespace
}  // namespace sluice::coordination
