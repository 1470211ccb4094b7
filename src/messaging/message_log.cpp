#include "messaging/message_log.h"

#include <stdexcept>

#include "base/check.h"

namespace sluice::messaging {

Task<Position> publish_one(MessageLog& log, Message message) {
  std::vector<Message> one;
  one.push_back(std::move(message));
  std::vector<Published> outcomes = co_await log.publish(std::move(one));
  check_that(outcomes.size() == 1, "{} outcomes of one message", outcomes.size());
  if (const auto* rejected = std::get_if<Rejected>(&outcomes.front())) throw std::invalid_argument(rejected->reason);
  co_return std::get<Position>(std::move(outcomes.front()));
}

}  // namespace sluice::messaging
