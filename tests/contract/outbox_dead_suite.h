// The fixture of outbox_dead_contract.cpp, for the engines that run it.
#pragma once

#include <algorithm>

#include "base/random.h"
#include "messaging/outbox_dead.h"
#include "tests/contract/port_fixture.h"

namespace sluice::test {

// Dead rows of an engine, and how one comes to be.
class TestedOutboxDead {
 public:
  virtual ~TestedOutboxDead() = default;
  virtual messaging::OutboxDead& dead() = 0;
  // Adds a row that the log refused three times as "too large"; its id.
  virtual Task<int64_t> bury(messaging::OutboxMessage message) = 0;
};

class OutboxDeadContract : public PortFixture<TestedOutboxDead> {
 protected:
  using DeadRow = messaging::DeadRow;

  // Of an aggregate that no other test uses: the rows of a table outlast tests.
  messaging::OutboxMessage message() {
    return {.topic = "payment.events",
            .aggregate_type = "payment",
            .aggregate_id = unique("dead"),
            .aggregate_version = 7,
            .event_type = "PaymentSuccess",
            .payload = R"({"amount":1})",
            .headers = {{"tenant", "a"}},
            .id = messaging::MessageId::make(Time{}, random_)};
  }
  int64_t bury() { return run(port().bury(message())); }
  std::vector<DeadRow> list(int64_t after, size_t most) { return run(port().dead().list(after, most)); }
  std::vector<int64_t> ids(int64_t after, size_t most) {
    std::vector<int64_t> found;
    for (const DeadRow& row : list(after, most)) found.push_back(row.id);
    return found;
  }
  size_t count() { return run(port().dead().count()); }
  bool replay(int64_t id) { return run(port().dead().replay(id)); }
  bool discard(int64_t id) { return run(port().dead().discard(id)); }

  SeededRandom random_{std::random_device{}()};
};

}  // namespace sluice::test
