// A message as an entry of a stream, and back.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "adapters/redis/client/reply.h"
#include "messaging/message.h"

namespace sluice::redis {

// Netstrings, name and value in turn: "10:message-id,36:018f4e1c-...,". Any bytes fit, and people can read them.
std::string pack_headers(const messaging::Headers& headers);
// Views into `packed`. Throws EngineUnavailable where that is something else.
messaging::HeaderViews unpack_headers(std::string_view packed);

// The result of log_scripts::read.
struct LogPage {
  std::vector<messaging::Delivery> messages;  // they share the reply's memory
  bool at_end = false;
};
LogPage page_of(Reply reply, const std::shared_ptr<const messaging::Assignment>& assignment);

}  // namespace sluice::redis
