// Messages published in Redis.
//
// Redis does not store messages: a client that was not connected has missed them. So a listener is told when it is
// connected (again) and when it is not; its state from before may be out of date.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "adapters/redis/client/redis_config.h"
#include "runtime/clock.h"

namespace sluice::redis {

// Called on the subscriber's executor; must not block.
class Listener {
 public:
  virtual ~Listener() = default;

  // From here on no message is missed; earlier ones may have been. Also after every reconnect.
  virtual void on_listening() = 0;
  // The connection is lost: messages are missed until on_listening. Not called by close.
  virtual void on_interrupted() = 0;
  virtual void on_message(std::string_view channel, std::string_view message) = 0;
};

// Belongs to one executor. In a cluster messages reach every member, so any of them will do; but joins and leaves have
// to be known, since a node that left stays connected and receives nothing any more. So every few seconds another
// member is asked for the members.
class Subscriber {
 public:
  // Starts connecting, and again after every loss. References must outlive it.
  Subscriber(RedisConfig config, Executor executor, Clock& clock, std::vector<std::string> channels,
             Listener& listener);
  // Close it first.
  ~Subscriber();

  Task<> close();

 private:
  class Session;
  std::unique_ptr<Session> session_;
};

}  // namespace sluice::redis
