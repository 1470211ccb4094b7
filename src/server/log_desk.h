// Access to the message log for commands; they may run beside a server.
#pragma once

#include <functional>
#include <optional>
#include <string_view>

#include <boost/asio/io_context.hpp>

#include "runtime/system_clock.h"
#include "server/commands.h"
#include "server/message_parts.h"
#include "server/system_random.h"

namespace sluice::server {

struct LogDesk {
  LogDesk(const Settings& settings, LogEngine engine);

  asio::io_context here;
  SystemClock clock;
  SystemRandom random;
  Engines engines;
  MessageParts parts;
};

// Opens the log and runs `work`; the exit code is its own, or says why it was not run.
int at_log_desk(const CommonFlags& flags, const std::function<Task<int>(LogDesk&)>& work);

// "2026-05-01T11:00:00Z", or how long ago: "2h".
std::optional<Time> parse_moment(std::string_view text, const Clock& clock);
int complain_of_moment(std::string_view flag, std::string_view text);

}  // namespace sluice::server
