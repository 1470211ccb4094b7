// Ports implemented in SQL, for the suites that other engines pass too.
#pragma once

#include "tests/contract/database_fixture.h"
#include "tests/contract/port_fixture.h"

namespace sluice::test {

template <class Port, class Store>
class OpenSqlPort : public OpenPort<Port> {
 public:
  explicit OpenSqlPort(std::unique_ptr<OpenDatabase> database)
      : database_(std::move(database)), store_(database_->database()) {}
  Port& port() override { return store_; }
  Task<> close() override { return database_->close(); }

 private:
  std::unique_ptr<OpenDatabase> database_;
  Store store_;
};

// `Store` over each of the databases.
template <class Port, class Store>
std::vector<PortEngine<Port>> in_sql(const std::vector<DatabaseEngine>& databases) {
  std::vector<PortEngine<Port>> engines;
  for (const DatabaseEngine& database : databases) {
    engines.push_back({.name = database.name, .open = [open = database.open](asio::io_context& io) {
                         return std::make_unique<OpenSqlPort<Port, Store>>(open(io, 1000));
                       }});
  }
  return engines;
}

}  // namespace sluice::test
