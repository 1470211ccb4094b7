// Adds data to every commit.
#pragma once

#include <string_view>

#include "adapters/sqlite/connection.h"
#include "adapters/sqlite/write_queue.h"

namespace sluice::sqlite {

// Called on the writer thread.
class CommitRider {
 public:
  virtual ~CommitRider() = default;

  // Adds to the commit group's transaction, which is about to commit. If the group is rolled back because of one of its
  // members, it is called again with the next.
  virtual void before_commit(Connection& connection, const Writes& group) = 0;
  virtual void committed() = 0;
  // Writing or committing the added data failed.
  virtual void commit_failed(std::string_view reason) = 0;
};

}  // namespace sluice::sqlite
