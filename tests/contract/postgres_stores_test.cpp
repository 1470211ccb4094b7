#include "adapters/sql/coordination/sql_fenced_leases.h"
#include "adapters/sql/coordination/sql_leases.h"
#include "adapters/sql/coordination/sql_slots.h"
#include "adapters/sql/coordination/sql_version_floors.h"
#include "tests/contract/inbox_suite.h"
#include "tests/contract/leases_suite.h"
#include "tests/contract/postgres_engines.h"
#include "tests/contract/slots_suite.h"
#include "tests/contract/sql_day_budgets.h"
#include "tests/contract/sql_documents.h"
#include "tests/contract/sql_ports.h"
#include "tests/contract/store_suites.h"
#include "tests/contract/version_floors_suite.h"

namespace sluice::test {
namespace {

const auto document_service = testing::ValuesIn(postgres_service_engines("document_service"));
const auto job_service = testing::ValuesIn(postgres_service_engines("job_service"));
const auto fenced_leases = testing::ValuesIn(
    in_sql<coordination::FencedLeases, sql::SqlFencedLeases>(postgres_service_engines("document_service")));
const auto leases =
    testing::ValuesIn(in_sql<coordination::Leases, sql::SqlLeases>(postgres_service_engines("document_service")));
const auto slots =
    testing::ValuesIn(in_sql<coordination::Slots, sql::SqlSlots>(postgres_service_engines("document_service")));
const auto day_budgets = testing::ValuesIn(day_budgets_in_sql(postgres_service_engines("snapshot_service")));
const auto floors = testing::ValuesIn(
    in_sql<coordination::VersionFloors, sql::SqlVersionFloors>(postgres_service_engines("snapshot_service")));
const auto stored_documents = testing::ValuesIn(documents_in_sql(postgres_service_engines("document_service")));

std::vector<LimitEngine> limits() {
  std::vector<LimitEngine> engines;
  for (const DatabaseEngine& engine : postgres_service_engines("snapshot_service"))
    engines.push_back(sql_limits(engine));
  return engines;
}

}  // namespace

INSTANTIATE_TEST_SUITE_P(Postgres, FencedLeasesContract, fenced_leases, port_engine_name);
INSTANTIATE_TEST_SUITE_P(Postgres, LeasesContract, leases, port_engine_name);
INSTANTIATE_TEST_SUITE_P(Postgres, SlotsContract, slots, port_engine_name);
INSTANTIATE_TEST_SUITE_P(Postgres, SharedBreakerContract, document_service, engine_name);
INSTANTIATE_TEST_SUITE_P(Postgres, SharedLimitContract, testing::ValuesIn(limits()), testing::PrintToStringParamName());
INSTANTIATE_TEST_SUITE_P(Postgres, DayBudgetsContract, day_budgets, port_engine_name);
INSTANTIATE_TEST_SUITE_P(Postgres, DocumentStoreContract, stored_documents, port_engine_name);
INSTANTIATE_TEST_SUITE_P(Postgres, DocumentChangesContract, stored_documents, port_engine_name);
INSTANTIATE_TEST_SUITE_P(Postgres, InboxContract, job_service, engine_name);
INSTANTIATE_TEST_SUITE_P(Postgres, JobStoreContract, job_service, engine_name);
INSTANTIATE_TEST_SUITE_P(Postgres, JobMessagesContract, job_service, engine_name);
INSTANTIATE_TEST_SUITE_P(Postgres, JobRequestsContract, job_service, engine_name);
INSTANTIATE_TEST_SUITE_P(Postgres, JobThrottleContract, job_service, engine_name);
INSTANTIATE_TEST_SUITE_P(Postgres, JobTransitionsContract, job_service, engine_name);
INSTANTIATE_TEST_SUITE_P(Postgres, VersionFloorsContract, floors, port_engine_name);

}  // namespace sluice::test
