#include "messaging/message_log.h"

#include <algorithm>
#include <stdexcept>

#include "base/check.h"

namespace sluice::messaging {

bool nothing_known(const std::vector<Published>& outcomes) {
  const auto known = [](const Published& outcome) {
    return std::holds_alternative<Position>(outcome) || std::holds_alternative<Rejected>(outcome);
  };
  return !outcomes.empty() && std::ranges::none_of(outcomes, known);
}

Task<Position> publish_one(MessageLog& log, Message message) {
  std::vector<Message> one;
  one.push_back(std::move(message));
  std::vector<Published> outcomes = co_await log.publish(std::move(one));
  check_that(outcomes.size() == 1, "{} outcomes of one message", outcomes.size());
  if (const auto* rejected = std::get_if<Rejected>(&outcomes.front())) throw std::invalid_argument(rejected->reason);
  co_return std::get<Position>(std::move(outcomes.front()));
}

}  // namespace sluice::messaging
