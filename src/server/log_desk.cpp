#include "server/log_desk.h"

#include <fmt/format.h>

#include "server/blocking.h"

namespace sluice::server {
namespace {

// Connections of the log end before the engines do.
Task<int> work_and_close(LogDesk& desk, std::function<Task<int>(LogDesk&)> work) {
  std::exception_ptr error;
  int code = 0;
  try {
    code = co_await work(desk);
  } catch (...) {
    error = std::current_exception();
  }
  co_await desk.parts.close();
  if (error) std::rethrow_exception(error);
  co_return code;
}

}  // namespace

LogDesk::LogDesk(const Settings& settings, LogEngine engine)
    : engines(settings, {Service::relay}, clock, Engines::Access::beside_owner),
      parts(settings, engine, engines, clock, random, here.get_executor()) {}

int at_log_desk(const CommonFlags& flags, const std::function<Task<int>(LogDesk&)>& work) {
  const auto loaded = settings_or_complain(flags);
  if (!loaded) return asked_wrongly;
  const auto engine = chosen_log_engine(loaded->settings);
  if (!engine) {
    fmt::print(stderr, "sluice: no message log is configured; set kafka.brokers or redis.url\n");
    return asked_wrongly;
  }
  LogDesk desk(loaded->settings, *engine);
  return run_blocking(desk.here, work_and_close(desk, work));
}

std::optional<Time> parse_moment(std::string_view text, const Clock& clock) {
  if (const auto ago = parse_duration(text)) return clock.wall() - *ago;
  return parse_time(text);
}

int complain_of_moment(std::string_view flag, std::string_view text) {
  fmt::print(stderr, "sluice: {}: {} is not a time; write 2026-05-01T11:00:00Z, or an age such as 2h\n", flag, text);
  return asked_wrongly;
}

}  // namespace sluice::server
