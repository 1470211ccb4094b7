// The outboxes of all databases, and a relay for each.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "adapters/sql/driver/patient_database.h"
#include "adapters/sql/messaging/sql_outbox_dead.h"
#include "adapters/sql/messaging/sql_outbox_store.h"
#include "messaging/outbox_relay.h"

namespace sluice::server {

// Belongs to one executor. References must outlive it; stop it before it is destroyed.
class OutboxRelays {
 public:
  struct Parts {
    // A log for each relay: the state of the log as one relay knows it must not count for another.
    std::function<messaging::MessageLog&()> log_of_own;
    messaging::Bell& bell;
    Clock& clock;
    Random& random;
  };

  using Databases = std::vector<std::unique_ptr<sql::PatientDatabase>>;

  OutboxRelays(const messaging::OutboxRelayConfig& config, const Databases& databases, Parts parts,
               const Executor& executor);

  // Each relay waits only for its own database.
  void start();
  // Finishes the batches in flight and gives the buckets to other relays.
  Task<> stop();

 private:
  std::vector<std::unique_ptr<sql::SqlOutboxStore>> stores_;
  std::vector<std::unique_ptr<messaging::OutboxRelay>> relays_;
  bool started_ = false;
};

}  // namespace sluice::server
