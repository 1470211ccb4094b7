#include "adapters/redis/coordination/redis_cache.h"

#include "tests/contract/cache_store_suite.h"
#include "tests/contract/redis_engines.h"

namespace sluice::test {
namespace {

class OpenRedisCache : public OpenPort<coordination::CacheStore> {
 public:
  OpenRedisCache(const RedisEngine& engine, asio::io_context& io) : open_(engine, io) {}

  coordination::CacheStore& port() override { return cache_; }
  Task<> close() override { return open_.close(); }

 protected:
  OpenRedis open_;
  redis::RedisCache cache_{open_.redis()};
};

// One instance: its near cache hears of changes over a connection of its own.
class OpenNearCache : public OpenRedisCache {
 public:
  OpenNearCache(const RedisEngine& engine, asio::io_context& io)
      : OpenRedisCache(engine, io),
        subscriber_(engine.config(), io.get_executor(), open_.clock(), {redis::RedisCache::changes_channel}, changes_) {
  }

  coordination::CacheStore& port() override { return near_; }
  Task<> close() override {
    co_await subscriber_.close();
    co_await OpenRedisCache::close();
  }

 private:
  coordination::NearCache near_{cache_, open_.clock()};
  redis::RedisCacheChanges changes_{near_};
  redis::Subscriber subscriber_;
};

template <class Open>
std::vector<PortEngine<coordination::CacheStore>> engines(const std::string& prefix) {
  std::vector<PortEngine<coordination::CacheStore>> found;
  for (const RedisEngine& engine : redis_engines()) {
    found.push_back(
        {prefix + engine.name, [engine](asio::io_context& io) { return std::make_unique<Open>(engine, io); }});
  }
  return found;
}

INSTANTIATE_TEST_SUITE_P(Redis, CacheStoreContract, testing::ValuesIn(engines<OpenRedisCache>("")), port_engine_name);
INSTANTIATE_TEST_SUITE_P(NearRedis, CacheStoreContract, testing::ValuesIn(engines<OpenNearCache>("near_")),
                         port_engine_name);

class RedisCacheTest : public TaskFixture, public testing::WithParamInterface<RedisEngine> {
 protected:
  void TearDown() override {
    if (here_) run(here_->close());
    if (there_) run(there_->close());
  }
  void open() {
    here_ = std::make_unique<OpenNearCache>(GetParam(), io_);
    there_ = std::make_unique<OpenNearCache>(GetParam(), io_);
    key_ = unique("cached");
  }
  static coordination::CacheEntry entry(std::string body) {
    return {std::make_shared<const std::string>(std::move(body)), 1min, 1min, 1ms};
  }
  // The result of a lookup; empty if the engine does not answer.
  std::string look(OpenPort<coordination::CacheStore>& cache) {
    try {
      const coordination::CacheAnswer answer = run(cache.port().look_up(key_, {}));
      return answer.copy ? *answer.copy->body : "nothing";
    } catch (const EngineUnavailable&) {
      return "";
    }
  }
  std::string at_hand(OpenPort<coordination::CacheStore>& cache) {
    const auto copy = cache.port().peek(key_);
    return copy ? *copy->body : "nothing";
  }
  // Looking brings it near; an older one stays at hand until the message of its change arrives.
  bool comes_near(OpenPort<coordination::CacheStore>& cache, const std::string& body) {
    return eventually([&] { return look(cache) == body && at_hand(cache) == body; });
  }

  std::unique_ptr<OpenNearCache> here_;
  std::unique_ptr<OpenNearCache> there_;
  std::string key_;
};

TEST_P(RedisCacheTest, a_hit_at_hand_ends_when_another_instance_changes_it) {
  open();
  run(here_->port().put(key_, entry("first")));
  ASSERT_TRUE(comes_near(*there_, "first"));
  run(here_->port().put(key_, entry("second")));
  EXPECT_TRUE(comes_near(*there_, "second"));
  run(here_->port().remove(key_));
  EXPECT_TRUE(eventually([&] { return look(*there_) == "nothing" && at_hand(*there_) == "nothing"; }));
}

TEST_P(RedisCacheTest, goes_on_by_itself_after_its_server_was_replaced) {
  open();
  run(here_->port().put(key_, entry("first")));
  ASSERT_TRUE(comes_near(*there_, "first"));
  GetParam().replace_server_of("sluice:cache:" + key_);
  EXPECT_TRUE(eventually([&] { return look(*here_) != "" && look(*there_) != ""; }));
  run(here_->port().put(key_, entry("second")));
  EXPECT_TRUE(comes_near(*there_, "second"));
}

INSTANTIATE_TEST_SUITE_P(Redis, RedisCacheTest, testing::ValuesIn(redis_engines()), redis_engine_name);

}  // namespace
}  // namespace sluice::test
