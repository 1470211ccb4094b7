#include "messaging/outbox_relay_config.h"

#include "runtime/config_section.h"

namespace sluice::messaging {

void OutboxRelayConfig::describe(config::Section<OutboxRelayConfig>& section) {
  section.key("batch", &OutboxRelayConfig::batch, "Rows published in one batch.").between(1, 10'000);
  section.key("batches", &OutboxRelayConfig::batches, "Batches in flight at once.").between(1, 64);
  section.key("poll", &OutboxRelayConfig::poll, "Interval between checks when nothing wakes the relay.").at_least(10ms);
  section
      .key("send_timeout", &OutboxRelayConfig::send_timeout,
           "Time limit for publishing a batch; longer than kafka.send_timeout, so that the partition that "
           "failed is known.")
      .at_least(100ms);
  section.key("tries", &OutboxRelayConfig::tries, "Tries of a row that the log refuses.").between(1, 100);
  section.key("retry_after", &OutboxRelayConfig::retry_after, "Delay between these tries.").at_least(10ms);
  section.key("lease", &OutboxRelayConfig::lease, "Time a silent relay keeps its buckets.").at_least(1s);
  section
      .key("rerun_margin", &OutboxRelayConfig::rerun_margin,
           "After a restart of the log, rows published since this time before it was last seen are published "
           "again. Must cover the time between snapshots or fsyncs of the log (Redis: save, appendfsync); has "
           "no effect beyond keep.")
      .at_least(1s);
  section.include(&OutboxRelayConfig::upkeep);
}

}  // namespace sluice::messaging
