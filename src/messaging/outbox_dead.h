// Rows of an outbox that the log refused for good, for operators.
//
// The aggregate of such a row publishes nothing until it is replayed or discarded.
//
// Every implementation passes tests/contract/outbox_dead_contract.cpp; what it does to the rows of an OutboxStore is in
// outbox_store_contract.cpp.
#pragma once

#include "messaging/outbox_message.h"
#include "runtime/task.h"

namespace sluice::messaging {

struct DeadRow {
  int64_t id = 0;  // the row's
  OutboxMessage message;
  int64_t tries = 0;
  std::string reason;
  Time created_at{};
  Time failed_at{};
};

// Safe to use from any thread. All throw EngineUnavailable.
class OutboxDead {
 public:
  virtual ~OutboxDead() = default;

  virtual Task<size_t> count() = 0;
  // By id; `after` is the last one seen.
  virtual Task<std::vector<DeadRow>> list(int64_t after, size_t most) = 0;
  // Back to where it was, with new tries: it is published before its aggregate's later rows. False where it is not
  // there.
  virtual Task<bool> replay(int64_t id) = 0;
  // Never to be published; its aggregate goes on without it. False where it is not there.
  virtual Task<bool> discard(int64_t id) = 0;
};

}  // namespace sluice::messaging
