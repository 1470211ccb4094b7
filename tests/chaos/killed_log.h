// The log that log_consumer and log_kill_test share, on the engine of its name.
#pragma once

#include <memory>
#include <string>

#include <boost/asio/io_context.hpp>

#include "base/random.h"
#include "messaging/message_log.h"
#include "runtime/clock.h"

namespace sluice::test {

inline const std::string killed_topic = "killed.events";
inline constexpr int32_t killed_partitions = 4;
// Short: a consumer that was killed leaves its partitions idle for that long.
inline constexpr Duration killed_session = 1s;

class KilledLog {
 public:
  virtual ~KilledLog() = default;
  virtual messaging::MessageLog& log() = 0;
  virtual Task<> close() { co_return; }
};

// `place` is a folder, a URL or brokers.
std::unique_ptr<KilledLog> open_killed_log(const std::string& engine, const std::string& place, asio::io_context& io,
                                           Clock& clock, Random& random);

}  // namespace sluice::test
