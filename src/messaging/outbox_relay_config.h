// Settings of the relays that publish the outbox.
#pragma once

#include "messaging/outbox_upkeep.h"
#include "runtime/config_fwd.h"

namespace sluice::messaging {

struct OutboxRelayConfig {
  size_t batch = 100;
  size_t batches = 4;  // at once
  Duration poll = 1s;  // where no bell rings
  // Longer than the engines' own timeouts: otherwise the outcome of the rest of a batch would be unknown.
  Duration send_timeout = 8s;
  int tries = 3;
  Duration retry_after = 1s;
  // How long a silent relay keeps its buckets.
  Duration lease = 10s;
  // Redis' rarest snapshot by default is after an hour.
  Duration rerun_margin = 1h;
  OutboxUpkeepConfig upkeep{};

  static void describe(config::Section<OutboxRelayConfig>& section);
};

}  // namespace sluice::messaging
