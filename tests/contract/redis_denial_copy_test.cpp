#include "adapters/redis/coordination/redis_denial_copy.h"

#include "tests/contract/denial_copy_contract.h"
#include "tests/contract/redis_engines.h"

namespace sluice::test {
namespace {

class OpenRedisDenialCopy : public OpenDenialCopy {
 public:
  OpenRedisDenialCopy(RedisEngine engine, asio::io_context& io) : engine_(std::move(engine)), open_(engine_, io) {}

  coordination::DenialCopy& copy() override { return copy_; }
  void wipe() override { engine_.wipe(); }
  void fail_over() override { engine_.replace_server_of("sluice:{denied:0}:tokens"); }
  Task<> close() override { return open_.close(); }

 private:
  RedisEngine engine_;
  OpenRedis open_;
  redis::RedisDenialCopy copy_{open_.redis()};
};

std::vector<DenialCopyEngine> engines() {
  std::vector<DenialCopyEngine> found;
  for (const RedisEngine& engine : redis_engines()) {
    found.push_back(
        {engine.name, [engine](asio::io_context& io) { return std::make_unique<OpenRedisDenialCopy>(engine, io); }});
  }
  return found;
}

INSTANTIATE_TEST_SUITE_P(Redis, DenialCopyContract, testing::ValuesIn(engines()), testing::PrintToStringParamName());

}  // namespace
}  // namespace sluice::test
