#include "adapters/memory/memory_leases.h"
#include "adapters/memory/memory_slots.h"
#include "adapters/sql/coordination/sql_fenced_leases.h"
#include "adapters/sql/coordination/sql_leases.h"
#include "adapters/sql/coordination/sql_slots.h"
#include "adapters/sql/coordination/sql_version_floors.h"
#include "tests/contract/inbox_suite.h"
#include "tests/contract/leases_suite.h"
#include "tests/contract/outbox_loss_suite.h"
#include "tests/contract/slots_suite.h"
#include "tests/contract/sql_day_budgets.h"
#include "tests/contract/sql_documents.h"
#include "tests/contract/sql_outbox_dead.h"
#include "tests/contract/sql_ports.h"
#include "tests/contract/sqlite_engine.h"
#include "tests/contract/store_suites.h"
#include "tests/contract/version_floors_suite.h"

namespace sluice::test {
namespace {

const DatabaseEngine engine = sqlite_engine();
const auto sqlite = testing::Values(engine);
const auto fenced_leases = testing::ValuesIn(in_sql<coordination::FencedLeases, sql::SqlFencedLeases>({engine}));
const auto leases = testing::ValuesIn(in_sql<coordination::Leases, sql::SqlLeases>({engine}));
const auto slots = testing::ValuesIn(in_sql<coordination::Slots, sql::SqlSlots>({engine}));
const auto day_budgets = testing::ValuesIn(day_budgets_in_sql({engine}));
const auto floors = testing::ValuesIn(in_sql<coordination::VersionFloors, sql::SqlVersionFloors>({engine}));
const auto outbox_dead = testing::ValuesIn(outbox_dead_in_sql({engine}));
const auto stored_documents = testing::ValuesIn(documents_in_sql({engine}));

// State in memory and in the journal: every answer waits for the disk.
template <class Port, class Adapter>
class InJournaledMemory : public OpenPort<Port> {
 public:
  Port& port() override { return adapter_; }
  static std::unique_ptr<OpenPort<Port>> open(asio::io_context&) { return std::make_unique<InJournaledMemory>(); }

 private:
  TemporaryFolder folder_;
  SystemClock clock_;
  sqlite::SqliteDatabase database_{{.folder = folder_.path(), .journal_snapshot_bytes = 10'000}, clock_};
  Adapter adapter_{clock_, &database_.journal()};
};

const PortEngine<coordination::Leases> journaled_leases{
    .name = "journaled", .open = InJournaledMemory<coordination::Leases, memory::MemoryLeases>::open};
const PortEngine<coordination::Slots> journaled_slots{
    .name = "journaled", .open = InJournaledMemory<coordination::Slots, memory::MemorySlots>::open};

}  // namespace

INSTANTIATE_TEST_SUITE_P(Sqlite, FencedLeasesContract, fenced_leases, port_engine_name);
INSTANTIATE_TEST_SUITE_P(Sqlite, LeasesContract, leases, port_engine_name);
INSTANTIATE_TEST_SUITE_P(Sqlite, SlotsContract, slots, port_engine_name);
INSTANTIATE_TEST_SUITE_P(Memory, SlotsContract, testing::Values(journaled_slots), port_engine_name);
INSTANTIATE_TEST_SUITE_P(Memory, LeasesContract, testing::Values(journaled_leases), port_engine_name);
INSTANTIATE_TEST_SUITE_P(Sqlite, SharedBreakerContract, sqlite);
INSTANTIATE_TEST_SUITE_P(Sqlite, SharedLimitContract, testing::Values(sql_limits(engine)));
INSTANTIATE_TEST_SUITE_P(Sqlite, DayBudgetsContract, day_budgets, port_engine_name);
INSTANTIATE_TEST_SUITE_P(Sqlite, DocumentStoreContract, stored_documents, port_engine_name);
INSTANTIATE_TEST_SUITE_P(Sqlite, DocumentChangesContract, stored_documents, port_engine_name);
INSTANTIATE_TEST_SUITE_P(Sqlite, InboxContract, sqlite);
INSTANTIATE_TEST_SUITE_P(Sqlite, OutboxContract, sqlite);
INSTANTIATE_TEST_SUITE_P(Sqlite, OutboxStoreContract, sqlite);
INSTANTIATE_TEST_SUITE_P(Sqlite, OutboxDeadContract, outbox_dead, port_engine_name);
INSTANTIATE_TEST_SUITE_P(Sqlite, OutboxLossContract, sqlite);
INSTANTIATE_TEST_SUITE_P(Sqlite, JobStoreContract, sqlite);
INSTANTIATE_TEST_SUITE_P(Sqlite, JobMessagesContract, sqlite);
INSTANTIATE_TEST_SUITE_P(Sqlite, JobRequestsContract, sqlite);
INSTANTIATE_TEST_SUITE_P(Sqlite, JobThrottleContract, sqlite);
INSTANTIATE_TEST_SUITE_P(Sqlite, JobTransitionsContract, sqlite);
INSTANTIATE_TEST_SUITE_P(Sqlite, VersionFloorsContract, floors, port_engine_name);

}  // namespace sluice::test
