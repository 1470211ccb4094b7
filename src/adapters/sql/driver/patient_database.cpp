#include "adapters/sql/driver/patient_database.h"

#include "runtime/errors.h"

namespace sluice::sql {
namespace {

template <class Value>
Task<Value> patiently(Task<Value> task) {
  try {
    co_return co_await std::move(task);
  } catch (const StatementError& error) {
    throw EngineUnavailable("database", std::string(error.what()) + "; run `sluice migrate` if you have not yet");
  }
}

TxTask<> call(Tx& tx, const Database::Body* body) {
  co_await (*body)(tx);
}

}  // namespace

Task<Rows> PatientDatabase::read(Statement statement, Params params) {
  return patiently(database_.read(statement, std::move(params)));
}

Task<Rows> PatientDatabase::read_relaxed(Statement statement, Params params) {
  return patiently(database_.read_relaxed(statement, std::move(params)));
}

Task<Rows> PatientDatabase::write(Statement statement, Params params) {
  return patiently(database_.write(statement, std::move(params)));
}

Task<> PatientDatabase::run(const Body& body) {
  return patiently(database_.transact(call, &body));
}

}  // namespace sluice::sql
