// The suites that sqlite_stores_test.cpp and postgres_stores_test.cpp share.
#pragma once

#include "tests/contract/document_changes_suite.h"
#include "tests/contract/document_store_suite.h"
#include "tests/contract/fenced_leases_suite.h"
#include "tests/contract/job_messages_suite.h"
#include "tests/contract/job_requests_suite.h"
#include "tests/contract/job_store_fixture.h"
#include "tests/contract/job_throttle_suite.h"
#include "tests/contract/job_transitions_suite.h"
#include "tests/contract/shared_breaker_suite.h"
#include "tests/contract/sql_limits.h"
