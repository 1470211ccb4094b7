#include "server/outbox_relays.h"

#include "base/id.h"

namespace sluice::server {

OutboxRelays::OutboxRelays(const messaging::OutboxRelayConfig& config, const Databases& databases, Parts parts,
                           const Executor& executor) {
  const std::string owner = Uuid::v7(parts.clock.wall(), parts.random).text();
  for (const auto& database : databases) {
    messaging::OutboxRelayConfig own = config;
    own.upkeep.outbox = std::to_string(stores_.size());
    stores_.push_back(std::make_unique<sql::SqlOutboxStore>(*database));
    messaging::MessageLog& log = parts.log_of_own();
    const messaging::OutboxRelayParts given{*stores_.back(), log, parts.bell, parts.clock, parts.random};
    relays_.push_back(std::make_unique<messaging::OutboxRelay>(given, own, owner, executor));
  }
}

void OutboxRelays::start() {
  started_ = true;
  for (const auto& relay : relays_) relay->start();
}

Task<> OutboxRelays::stop() {
  if (!started_) co_return;
  for (const auto& relay : relays_) co_await relay->stop();
}

}  // namespace sluice::server
