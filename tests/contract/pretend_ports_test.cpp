// The ports that unit tests pretend, held to the promises of the real ones.
#include "documents/testing/pretend_ports.h"

#include "accounts/testing/pretend_audit_log.h"
#include "coordination/testing/pretend_floors.h"
#include "coordination/testing/pretend_limit.h"
#include "links/testing/pretend_blocked_domains.h"
#include "messaging/testing/pretend_log.h"
#include "messaging/testing/pretend_outbox_dead.h"
#include "runtime/task_scope.h"
#include "tests/contract/audit_log_suite.h"
#include "tests/contract/blocked_domains_suite.h"
#include "tests/contract/consumer_suite.h"
#include "tests/contract/document_changes_suite.h"
#include "tests/contract/leases_suite.h"
#include "tests/contract/log_view_suite.h"
#include "tests/contract/message_log_suite.h"
#include "tests/contract/outbox_dead_suite.h"
#include "tests/contract/process_limits.h"
#include "tests/contract/slots_suite.h"
#include "tests/contract/version_floors_suite.h"

namespace sluice::test {
namespace {

class OpenPretendAuditLog : public OpenPort<TestedAuditLog>, public TestedAuditLog {
 public:
  TestedAuditLog& port() override { return *this; }
  accounts::AuditLog& log() override { return log_; }
  Task<> set_time(std::string action, Time at) override {
    for (auto& row : log_.rows) {
      if (row.entry.action == action) row.at = at;
    }
    co_return;
  }
  Task<> skip_many() override {
    log_.last_id += accounts::AuditLog::keep_most;
    co_return;
  }

 private:
  SystemClock clock_;
  accounts::PretendAuditLog log_{clock_};
};

const PortEngine<TestedAuditLog> pretend_audit_log{
    .name = "pretend", .open = [](asio::io_context&) { return std::make_unique<OpenPretendAuditLog>(); }};
INSTANTIATE_TEST_SUITE_P(Pretend, AuditLogContract, testing::Values(pretend_audit_log), port_engine_name);

class OpenPretendBlockedDomains : public OpenPort<TestedBlockedDomains>, public TestedBlockedDomains {
 public:
  TestedBlockedDomains& port() override { return *this; }
  links::BlockedDomains& domains() override { return domains_; }
  Task<> set_last(std::string domain, Time at) override {
    for (auto& [key, row] : domains_.rows) {
      if (key.first == domain) row.last_at = at;
    }
    co_return;
  }

 private:
  SystemClock clock_;
  links::PretendBlockedDomains domains_{clock_};
};

const PortEngine<TestedBlockedDomains> pretend_blocked_domains{
    .name = "pretend", .open = [](asio::io_context&) { return std::make_unique<OpenPretendBlockedDomains>(); }};
INSTANTIATE_TEST_SUITE_P(Pretend, BlockedDomainsContract, testing::Values(pretend_blocked_domains), port_engine_name);

class OpenPretendSlots : public OpenPort<coordination::Slots> {
 public:
  coordination::Slots& port() override { return slots_; }

 private:
  SystemClock clock_;
  documents::PretendSlots slots_{clock_};
};

const PortEngine<coordination::Slots> pretend_slots{
    .name = "pretend", .open = [](asio::io_context&) { return std::make_unique<OpenPretendSlots>(); }};
INSTANTIATE_TEST_SUITE_P(Pretend, SlotsContract, testing::Values(pretend_slots), port_engine_name);

class OpenPretendFloors : public OpenPort<coordination::VersionFloors> {
 public:
  coordination::VersionFloors& port() override { return floors_; }

 private:
  SystemClock clock_;
  coordination::PretendFloors floors_{clock_};
};

const PortEngine<coordination::VersionFloors> pretend_floors{
    .name = "pretend", .open = [](asio::io_context&) { return std::make_unique<OpenPretendFloors>(); }};
INSTANTIATE_TEST_SUITE_P(Pretend, VersionFloorsContract, testing::Values(pretend_floors), port_engine_name);

class OpenPretendDocuments : public OpenPort<TestedDocuments>, public TestedDocuments {
 public:
  TestedDocuments& port() override { return *this; }
  documents::DocumentStore& store() override { return store_; }
  Task<int64_t> rows(std::string) override { co_return static_cast<int64_t>(store_.rows.size()); }
  Task<> age(std::string, Duration by) override {
    for (auto& [path, row] : store_.rows) row.asked_at -= by;
    co_return;
  }

 private:
  SystemClock clock_;
  documents::PretendStore store_{clock_};
};

const PortEngine<TestedDocuments> pretend_documents{
    .name = "pretend", .open = [](asio::io_context&) { return std::make_unique<OpenPretendDocuments>(); }};
INSTANTIATE_TEST_SUITE_P(Pretend, DocumentStoreContract, testing::Values(pretend_documents), port_engine_name);
INSTANTIATE_TEST_SUITE_P(Pretend, DocumentChangesContract, testing::Values(pretend_documents), port_engine_name);

std::unique_ptr<coordination::SharedLimit> pretend_limit(coordination::LimitPlan plan, Clock& clock) {
  return std::make_unique<coordination::PretendLimit>(std::move(plan), clock, Duration{0});
}

INSTANTIATE_TEST_SUITE_P(Pretend, SharedLimitContract,
                         testing::Values(LimitEngine{
                             "pretend",
                             [](asio::io_context&) { return std::make_unique<ProcessLimits>(pretend_limit); }}),
                         testing::PrintToStringParamName());

class OpenPretendLog : public OpenPort<TestedLog>, public TestedLog {
 public:
  explicit OpenPretendLog(asio::io_context& io) : log_(clock_, io.get_executor()), scope_(io.get_executor()) {
    scope_.spawn("log retention", keep_retention());
  }
  TestedLog& port() override { return *this; }
  messaging::MessageLog& log() override { return log_; }
  messaging::LogView& view() override { return log_; }
  Duration notices_within() const override { return 500ms; }
  Task<> close() override { return scope_.close(); }

 private:
  Task<> keep_retention() {
    while (true) {
      log_.remove_expired();
      co_await clock_.sleep_for(100ms);
    }
  }

  SystemClock clock_;
  messaging::PretendLog log_;
  TaskScope scope_;
};

const PortEngine<TestedLog> pretend_log{
    .name = "pretend", .open = [](asio::io_context& io) { return std::make_unique<OpenPretendLog>(io); }};
INSTANTIATE_TEST_SUITE_P(Pretend, MessageLogContract, testing::Values(pretend_log), port_engine_name);
INSTANTIATE_TEST_SUITE_P(Pretend, MessageGroupsContract, testing::Values(pretend_log), port_engine_name);
INSTANTIATE_TEST_SUITE_P(Pretend, LogViewContract, testing::Values(pretend_log), port_engine_name);
INSTANTIATE_TEST_SUITE_P(Pretend, ConsumerContract, testing::Values(pretend_log), port_engine_name);

class OpenPretendOutboxDead : public OpenPort<TestedOutboxDead>, public TestedOutboxDead {
 public:
  TestedOutboxDead& port() override { return *this; }
  messaging::OutboxDead& dead() override { return dead_; }
  Task<int64_t> bury(messaging::OutboxMessage message) override {
    const Time now = clock_.wall();
    dead_.rows.push_back({++last_id_, std::move(message), 3, "too large", now, now});
    co_return last_id_;
  }

 private:
  SystemClock clock_;
  messaging::PretendOutboxDead dead_;
  int64_t last_id_ = 0;
};

const PortEngine<TestedOutboxDead> pretend_outbox_dead{
    .name = "pretend", .open = [](asio::io_context&) { return std::make_unique<OpenPretendOutboxDead>(); }};
INSTANTIATE_TEST_SUITE_P(Pretend, OutboxDeadContract, testing::Values(pretend_outbox_dead), port_engine_name);

}  // namespace

// Compiled together with the suites above; no test pretends leases.
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(LeasesContract);

}  // namespace sluice::test
