#include "adapters/memory/memory_limit.h"

#include <map>

#include "runtime/system_clock.h"
#include "tests/contract/shared_limit_contract.h"

namespace sluice::test {
namespace {

// Instances of a process share one object.
class OpenMemoryLimits : public OpenLimits {
 public:
  coordination::SharedLimit& instance(coordination::LimitPlan plan) override {
    const auto key = std::pair(plan.name, plan.window.back().most);
    std::unique_ptr<memory::MemoryLimit>& limit = limits_[key];
    if (!limit) limit = std::make_unique<memory::MemoryLimit>(std::move(plan), clock_);
    return *limit;
  }
  Task<> lose(coordination::LimitPlan plan) override {
    limits_.erase({plan.name, plan.window.back().most});
    co_return;
  }

 private:
  SystemClock clock_;
  std::map<std::pair<std::string, int64_t>, std::unique_ptr<memory::MemoryLimit>> limits_;
};

INSTANTIATE_TEST_SUITE_P(Memory, SharedLimitContract,
                         testing::Values(LimitEngine{
                             "memory", [](asio::io_context&) { return std::make_unique<OpenMemoryLimits>(); }}),
                         testing::PrintToStringParamName());

}  // namespace
}  // namespace sluice::test
