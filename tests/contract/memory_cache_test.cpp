#include "adapters/memory/memory_cache.h"

#include "runtime/system_clock.h"
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

}  // namespace
}  // namespace sluice::test
