// Access to the message log for commands; they may run beside a server.
#pragma once

#include <functional>
#include <memory>
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

// A command that runs `work` so; its options write to `flags`.
template <class Flags>
Command desk_command(const std::shared_ptr<Flags>& flags, const char* name, const char* help, const char* example,
                     Task<int> (*work)(LogDesk&, const Flags&), std::vector<CommandOption> options = {}) {
  const auto at_desk = [flags, work](LogDesk& desk) { return work(desk, *flags); };
  return {.name = name,
          .help = help,
          .footer = std::string("Example: ") + example,
          .options = with_common(flags->common, std::move(options)),
          .run = [flags, at_desk] { return at_log_desk(flags->common, at_desk); }};
}

// "2026-05-01T11:00:00Z", or how long ago: "2h".
std::optional<Time> parse_moment(std::string_view text, const Clock& clock);
int complain_of_moment(std::string_view flag, std::string_view text);

}  // namespace sluice::server
