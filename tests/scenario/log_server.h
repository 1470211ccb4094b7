// A real server with its message log, and a desk beside it that inspects the log.
#pragma once

#include <memory>
#include <optional>

#include "server/blocking.h"
#include "server/log_desk.h"
#include "tests/scenario/one_server.h"

namespace sluice::test {

// A topic of the tests, which no consumer of the server reads.
inline constexpr const char* events_topic = "payment.events";

// Base of a fixture.
class LogServer : protected OneServer {
 protected:
  void start_with_log(Records records, server::LogEngine engine, const std::string& more) {
    start_server(records, more);
    loaded_ = server::load_settings({config_, {}});
    if (!loaded_->problems.empty()) throw std::runtime_error("the server took settings that the desk does not");
    desk_.emplace(loaded_->settings, engine);
    run(desk_->parts.log().declare({{.name = events_topic}}));
  }
  void stop_with_log() {
    if (desk_) run(desk_->parts.close());
    desk_.reset();
    stop_server();
  }

  // Redis by its configuration. No command fails because the machine stood still for a moment.
  static std::string redis_at(const std::string& url) {
    return fmt::format("[redis]\nurl = \"{}\"\nconnect_timeout = \"30s\"\ncommand_timeout = \"30s\"\n", url);
  }

  template <class Value>
  Value run(Task<Value> task) {
    return server::run_blocking(desk_->here, std::move(task));
  }

  std::unique_ptr<server::LoadedSettings> loaded_;
  std::optional<server::LogDesk> desk_;
};

}  // namespace sluice::test
