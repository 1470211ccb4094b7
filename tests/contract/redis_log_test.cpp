#include "tests/contract/log_view_contract.h"
#include "tests/contract/message_log_contract.h"
#include "tests/contract/redis_log_engines.h"

namespace sluice::test {
namespace {

std::vector<PortEngine<TestedLog>> logs() {
  std::vector<PortEngine<TestedLog>> all;
  for (const RedisEngine& engine : redis_engines()) {
    all.push_back({.name = engine.name, .open = [engine](asio::io_context& io) {
                     return std::make_unique<OpenTestedRedisLog>(engine, io);
                   }});
  }
  return all;
}

}  // namespace

INSTANTIATE_TEST_SUITE_P(Redis, MessageLogContract, testing::ValuesIn(logs()), port_engine_name);
INSTANTIATE_TEST_SUITE_P(Redis, MessageGroupsContract, testing::ValuesIn(logs()), port_engine_name);
INSTANTIATE_TEST_SUITE_P(Redis, LogViewContract, testing::ValuesIn(logs()), port_engine_name);

}  // namespace sluice::test
