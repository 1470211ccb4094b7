#include "adapters/redis/subscriber.h"

#include "adapters/redis/command.h"
#include "adapters/redis/redis.h"
#include "adapters/redis/wire.h"
#include "base/check.h"
#include "runtime/deadline.h"
#include "runtime/log.h"
#include "runtime/task_scope.h"

namespace sluice::redis {
namespace {

// A server that says nothing for two of these is asked no longer.
constexpr Duration ping_every = 1s;

Place place_of(const RedisConfig& config) {
  const auto place = Place::parse(config.url);
  check_that(place.has_value(), "redis.url is \"{}\"", config.url);
  return *place;
}

std::string encoded(const Command& command) {
  std::string bytes;
  command.encode(bytes, "", Command::ScriptBy::hash);
  return bytes;
}

std::string subscription(const std::vector<std::string>& channels) {
  Command command("SUBSCRIBE");
  for (const std::string& channel : channels) command.arg(channel);
  return encoded(command);
}

}  // namespace

class Subscriber::Line {
 public:
  Line(RedisConfig config, Executor executor, Clock& clock, std::vector<std::string> channels, Listener& listener)
      : config_(std::move(config)),
        place_(place_of(config_)),
        access_{config_, 0, make_tls(config_, place_.tls)},
        clock_(clock),
        channels_(std::move(channels)),
        listener_(listener),
        random_(static_cast<uint64_t>(clock.wall().time_since_epoch().count())),
        scope_(std::move(executor)) {
    scope_.spawn("redis messages", keep_listening());
  }

  Task<> close() { return scope_.close(); }

 private:
  Task<> keep_listening() {
    return run_forever("redis messages", clock_, random_, [this] { return listen(); }, config_.reconnect);
  }

  // The seeds in turn: one that is down must not keep us from the others.
  Task<> listen() {
    const Address address = place_.seeds[turn_++ % place_.seeds.size()];
    Task<std::unique_ptr<Wire>> opening = Wire::open(access_, address);
    const Deadline deadline = Deadline::after(clock_, config_.connect_timeout);
    const std::unique_ptr<Wire> wire =
        co_await with_deadline(clock_, deadline, address.to_string(), std::move(opening));
    co_await send(*wire, subscription(channels_));
    listening_ = false;
    subscribed_ = 0;
    try {
      co_await take_messages(*wire);
    } catch (const EngineUnavailable& error) {
      log::warning("lost the connection for Redis messages", {{"node", address.to_string()}, {"error", error.what()}});
    }
    if (!listening_) throw EngineUnavailable(engine_name, "not subscribed");
    listener_.on_interrupted();
  }

  Task<> take_messages(Wire& wire) {
    while (true) {
      while (const std::optional<Reply> reply = wire.next()) take(*reply);
      // Silence is answered with a ping, and silence after that is the end.
      bool heard = co_await fill(wire);
      if (heard) continue;
      co_await send(wire, encoded(Command("PING")));
      heard = co_await fill(wire);
      if (!heard) throw EngineUnavailable(engine_name, "no sign of life");
    }
  }

  Task<bool> fill(Wire& wire) {
    const Deadline deadline = Deadline::after(clock_, ping_every);
    Task<> filling = wire.fill();
    co_return co_await detail::race(clock_, deadline, std::move(filling));
  }

  Task<> send(Wire& wire, std::string bytes) {
    const Deadline deadline = Deadline::after(clock_, ping_every);
    Task<> sending = wire.write(bytes);
    co_await with_deadline(clock_, deadline, engine_name, std::move(sending));
  }

  void take(const Reply& reply) {
    if (reply.is_error()) throw EngineUnavailable(engine_name, "subscribing: " + reply.error());
    const std::string& kind = reply[0].text();
    if (kind == "message") {
      listener_.on_message(reply[1].text(), reply[2].text());
    } else if (kind == "subscribe" && ++subscribed_ == channels_.size()) {
      listening_ = true;
      listener_.on_listening();
    }
  }

  const RedisConfig config_;
  const Place place_;
  const Access access_;
  Clock& clock_;
  const std::vector<std::string> channels_;
  Listener& listener_;
  SeededRandom random_;
  size_t turn_ = 0;
  size_t subscribed_ = 0;  // channels of this connection
  bool listening_ = false;
  TaskScope scope_;
};

Subscriber::Subscriber(RedisConfig config, Executor executor, Clock& clock, std::vector<std::string> channels,
                       Listener& listener)
    : line_(std::make_unique<Line>(std::move(config), std::move(executor), clock, std::move(channels), listener)) {}

Subscriber::~Subscriber() = default;

Task<> Subscriber::close() {
  return line_->close();
}

}  // namespace sluice::redis
