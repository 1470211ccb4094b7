#include "adapters/memory/memory_cache.h"

#include "runtime/system_clock.h"
#include "tests/contract/cache_store_suite.h"

namespace sluice::test {
namespace {

class OpenMemoryCache : public OpenPort<coordination::CacheStore> {
 public:
  coordination::CacheStore& port() override { return cache_; }

 private:
  SystemClock clock_;
  memory::MemoryCache cache_{clock_, 1 << 20};
};

INSTANTIATE_TEST_SUITE_P(Memory, CacheStoreContract,
                         testing::Values(PortEngine<coordination::CacheStore>{
                             "memory", [](asio::io_context&) { return std::make_unique<OpenMemoryCache>(); }}),
                         port_engine_name);

}  // namespace
}  // namespace sluice::test
