#include "adapters/memory/memory_cache.h"

#include "runtime/system_clock.h"
#include "runtime/virtual_clock.h"
#include "tests/contract/cache_store_contract.h"

namespace sluice::test {
namespace {

class OpenMemoryCache : public OpenCacheStore {
 public:
  coordination::CacheStore& store() override { return cache_; }

 private:
  SystemClock clock_;
  memory::MemoryCache cache_{clock_, 1 << 20};
};

INSTANTIATE_TEST_SUITE_P(Memory, CacheStoreContract,
                         testing::Values(CacheEngine{
                             "memory", [](asio::io_context&) { return std::make_unique<OpenMemoryCache>(); }}),
                         testing::PrintToStringParamName());

class MemoryCacheTest : public TaskFixture {
 protected:
  void put(const std::string& key, size_t bytes) {
    run(cache_.put(key, {std::make_shared<const std::string>(bytes, 'x'), 1h, 1h, 1ms}));
  }

  VirtualClock clock_;
  memory::MemoryCache cache_{clock_, 160'000};
};

TEST_F(MemoryCacheTest, never_holds_more_than_its_bytes) {
  for (int i = 0; i < 1000; ++i) put(fmt::format("key {}", i), 1000);
  EXPECT_LE(cache_.bytes(), 160'000U);
  EXPECT_GT(cache_.bytes(), 100'000U);
}

TEST_F(MemoryCacheTest, what_is_used_stays) {
  put("used", 1000);
  for (int i = 0; i < 1000; ++i) {
    put(fmt::format("key {}", i), 1000);
    ASSERT_TRUE(cache_.peek("used")) << i;
  }
}

TEST_F(MemoryCacheTest, a_body_too_large_to_keep_drives_nothing_out) {
  put("small", 1000);
  put("small", 100'000);
  EXPECT_FALSE(cache_.peek("small"));
  for (int i = 0; i < 16; ++i) put(fmt::format("key {}", i), 500);
  const size_t before = cache_.bytes();
  put("large", 100'000);
  EXPECT_EQ(cache_.bytes(), before);
}

}  // namespace
}  // namespace sluice::test
