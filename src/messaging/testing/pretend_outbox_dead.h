// The rows of an outbox that the log refused for good, in memory.
//
// For testing what shows and settles them. Passes the contract suite of OutboxDead as real ones do
// (tests/contract/pretend_ports_test.cpp). Left out on purpose: it serves one thread, and replayed rows go nowhere.
#pragma once

#include "messaging/outbox_dead.h"

namespace sluice::messaging {

class PretendOutboxDead : public OutboxDead {
 public:
  Task<size_t> count() override { co_return rows.size(); }
  Task<std::vector<DeadRow>> list(int64_t after, size_t most) override {
    std::vector<DeadRow> found;
    for (const DeadRow& row : rows) {
      if (row.id > after && found.size() < most) found.push_back(row);
    }
    co_return found;
  }
  Task<bool> replay(int64_t id) override { return settle(id, replayed); }
  Task<bool> discard(int64_t id) override { return settle(id, discarded); }

  std::vector<DeadRow> rows;  // by id
  std::vector<int64_t> replayed;
  std::vector<int64_t> discarded;

 private:
  Task<bool> settle(int64_t id, std::vector<int64_t>& settled) {
    if (std::erase_if(rows, [id](const DeadRow& row) { return row.id == id; }) == 0) co_return false;
    settled.push_back(id);
    co_return true;
  }
};

}  // namespace sluice::messaging
