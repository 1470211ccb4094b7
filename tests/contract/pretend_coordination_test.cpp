// The ports of coordination that unit tests pretend, held to the promises of the real ones.
#include "coordination/testing/pretend_cache_store.h"
#include "coordination/testing/pretend_days.h"
#include "coordination/testing/pretend_denial_copy.h"
#include "coordination/testing/pretend_denial_records.h"
#include "coordination/testing/pretend_fenced_leases.h"
#include "runtime/system_clock.h"
#include "tests/contract/cache_store_suite.h"
#include "tests/contract/day_budgets_suite.h"
#include "tests/contract/denial_copy_contract.h"
#include "tests/contract/denial_records_suite.h"
#include "tests/contract/fenced_leases_suite.h"

namespace sluice::test {
namespace {

// A pretended port that needs a clock only.
template <class Port, class Pretended>
class OpenPretended : public OpenPort<Port> {
 public:
  Port& port() override { return port_; }

  static PortEngine<Port> engine() {
    return {.name = "pretend", .open = [](asio::io_context&) { return std::make_unique<OpenPretended>(); }};
  }

 private:
  SystemClock clock_;
  Pretended port_{clock_};
};

const auto caches = OpenPretended<coordination::CacheStore, coordination::PretendCacheStore>::engine();
INSTANTIATE_TEST_SUITE_P(Pretend, CacheStoreContract, testing::Values(caches), port_engine_name);

const auto fenced_leases = OpenPretended<coordination::FencedLeases, coordination::PretendFencedLeases>::engine();
INSTANTIATE_TEST_SUITE_P(Pretend, FencedLeasesContract, testing::Values(fenced_leases), port_engine_name);

const auto denial_records = OpenPretended<coordination::DenialRecords, coordination::PretendDenialRecords>::engine();
INSTANTIATE_TEST_SUITE_P(Pretend, DenialRecordsContract, testing::Values(denial_records), port_engine_name);

class OpenPretendDays : public OpenPort<TestedDayBudgets>, public TestedDayBudgets {
 public:
  TestedDayBudgets& port() override { return *this; }
  coordination::DayBudgets& instance(coordination::LimitPlan plan) override {
    instances_.push_back(std::make_unique<coordination::PretendDays>(std::move(plan), rows_, clock_));
    return *instances_.back();
  }
  Task<DaySpent> spent(std::string limit, std::string day) override { co_return rows_.at({limit, day}); }
  Task<> set_spent(std::string limit, std::string day, DaySpent spent) override {
    rows_.at({limit, day}) = spent;
    co_return;
  }

 private:
  SystemClock clock_;
  coordination::PretendDayRows rows_;
  std::vector<std::unique_ptr<coordination::PretendDays>> instances_;
};

const PortEngine<TestedDayBudgets> days{.name = "pretend",
                                        .open = [](asio::io_context&) { return std::make_unique<OpenPretendDays>(); }};
INSTANTIATE_TEST_SUITE_P(Pretend, DayBudgetsContract, testing::Values(days), port_engine_name);

class OpenPretendDenialCopy : public OpenDenialCopy {
 public:
  coordination::DenialCopy& copy() override { return copy_; }
  void wipe() override { copy_.wipe(); }
  void fail_over() override { copy_.wipe(); }

 private:
  coordination::PretendDenialCopy copy_;
};

const DenialCopyEngine denial_copy{.name = "pretend",
                                   .open = [](asio::io_context&) { return std::make_unique<OpenPretendDenialCopy>(); }};
INSTANTIATE_TEST_SUITE_P(Pretend, DenialCopyContract, testing::Values(denial_copy), testing::PrintToStringParamName());

}  // namespace
}  // namespace sluice::test
