// What every sql::Database promises, tried on a real engine.
//
//   INSTANTIATE_TEST_SUITE_P(Sqlite, DatabaseContract, testing::Values(...));
#pragma once

#include "tests/contract/database_transactions_contract.h"
#include "tests/contract/database_values_contract.h"
#include "tests/contract/database_writes_contract.h"
