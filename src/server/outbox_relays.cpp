#include "server/outbox_relays.h"

#include "base/id.h"

namespace sluice::server {

OutboxRelays::OutboxRelays(const messaging::OutboxRelayConfig& config, const Engines& engines, Parts parts,
                           const Executor& executor) {
  const std::string owner = Uuid::v7(parts.clock.wall(), parts.random).text();
  for (const auto& database : engines.outboxes()) {
    stores_.push_back(std::make_unique<sql::SqlOutboxStore>(*database));
    relays_.push_back(std::make_unique<messaging::OutboxRelay>(*stores_.back(), parts.log, parts.bell, parts.clock,
                                                               parts.random, owner, config, executor));
  }
}

void OutboxRelays::start() {
  for (const auto& relay : relays_) relay->start();
}

Task<> OutboxRelays::stop() {
  for (const auto& relay : relays_) co_await relay->stop();
}

}  // namespace sluice::server
