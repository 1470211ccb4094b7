// The suites of all stores in SQL but those of links and imports, which are compiled beside them.
#pragma once

#include "tests/contract/day_budgets_contract.h"
#include "tests/contract/document_changes_contract.h"
#include "tests/contract/document_store_contract.h"
#include "tests/contract/fenced_leases_contract.h"
#include "tests/contract/job_messages_contract.h"
#include "tests/contract/job_requests_contract.h"
#include "tests/contract/job_store_contract.h"
#include "tests/contract/job_throttle_contract.h"
#include "tests/contract/job_transitions_contract.h"
#include "tests/contract/shared_breaker_contract.h"
#include "tests/contract/sql_limits.h"
#include "tests/contract/version_floors_contract.h"
