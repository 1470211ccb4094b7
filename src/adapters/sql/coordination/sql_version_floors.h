// Floors of versions in SQL: one row per run of an engine, for ever.
#pragma once

#include "adapters/sql/driver/database.h"
#include "coordination/version_floors.h"

namespace sluice::sql {

class SqlVersionFloors : public coordination::VersionFloors {
 public:
  explicit SqlVersionFloors(Database& database) : database_(database) {}

  Task<coordination::RunFloor> floor_of(std::string run) override;

 private:
  Database& database_;
};

}  // namespace sluice::sql
