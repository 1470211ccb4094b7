#include "adapters/redis/client/subscriber.h"

#include <algorithm>
#include <set>

#include "adapters/redis/client/command.h"
#include "adapters/redis/client/hash_slots.h"
#include "adapters/redis/client/redis.h"
#include "adapters/redis/client/wire.h"
#include "base/check.h"
#include "runtime/deadline.h"
#include "runtime/log.h"
#include "runtime/task_scope.h"

namespace sluice::redis {
namespace {

// The connection is closed after two of these without an answer.
constexpr Duration ping_every = 1s;
constexpr Duration members_every = 5s;

Place place_of(const RedisConfig& config) {
  const auto place = Place::parse(config.url);
  check_that(place.has_value(), "redis.url is \"{}\"", config.url);
  return *place;
}

std::string encoded(const Command& command) {
  std::string bytes;
  command.encode(bytes, Command::ScriptBy::hash);
  return bytes;
}

std::string subscription(const std::vector<std::string>& channels) {
  Command command("SUBSCRIBE");
  for (const std::string& channel : channels) command.arg(channel);
  return encoded(command);
}

}  // namespace

class Subscriber::Session {
 public:
  Session(RedisConfig config, Executor executor, Clock& clock, std::vector<std::string> channels, Listener& listener)
      : config_(std::move(config)),
        place_(place_of(config_)),
        access_{config_, 0, make_tls(config_, place_.tls)},
        clock_(clock),
        channels_(std::move(channels)),
        listener_(listener),
        random_(static_cast<uint64_t>(clock.wall().time_since_epoch().count())),
        scope_(std::move(executor)) {
    scope_.spawn("redis messages", keep_listening());
    if (config_.cluster) scope_.spawn("redis members", keep_members());
  }

  Task<> close() { return scope_.close(); }

 private:
  Task<> keep_listening() {
    return run_forever("redis messages", clock_, random_, [this] { return listen(); }, config_.reconnect);
  }

  Task<> listen() {
    if (config_.cluster && members_.empty()) co_await learn_members();
    const Address address = next_address();
    wire_ = co_await open(address);
    co_await send(*wire_, subscription(channels_));
    listening_ = false;
    subscribed_ = 0;
    try {
      co_await take_messages(*wire_);
    } catch (const EngineUnavailable& error) {
      log::warning("lost the connection for Redis messages", {{"node", address.to_string()}, {"error", error.what()}});
    } catch (const boost::system::system_error&) {
      if (!has_left_) throw;  // cancelled
      log::warning("a node left the Redis Cluster", {{"node", address.to_string()}});
    }
    has_left_ = false;
    wire_.reset();
    if (!listening_) throw EngineUnavailable(engine_name, "not subscribed");
    listener_.on_interrupted();
  }

  // In turn: a server that is down must not block the others.
  Address next_address() {
    const std::vector<Address>& all = config_.cluster ? members_ : place_.seeds;
    return all[turn_++ % all.size()];
  }

  Task<std::unique_ptr<Wire>> open(Address address) {
    Task<std::unique_ptr<Wire>> opening = Wire::open(access_, address);
    const Deadline deadline = Deadline::after(clock_, config_.connect_timeout);
    co_return co_await with_deadline(clock_, deadline, address.to_string(), std::move(opening));
  }

  Task<> keep_members() {
    return run_forever("redis members", clock_, random_, [this] { return look_at_members(); }, config_.reconnect);
  }

  Task<> look_at_members() {
    co_await clock_.sleep_for(members_every);
    co_await learn_members();
    if (!wire_ || std::ranges::find(members_, wire_->address()) != members_.end()) co_return;
    has_left_ = true;
    wire_->close();
  }

  // From others than the one we listen to, which may not know that it was put out, and from the seeds if need be.
  Task<> learn_members() {
    std::vector<Address> asked;
    for (const Address& member : members_) {
      if (!wire_ || member != wire_->address()) asked.push_back(member);
    }
    if (!asked.empty()) std::ranges::rotate(asked, asked.begin() + static_cast<ptrdiff_t>(random_.below(asked.size())));
    asked.insert(asked.end(), place_.seeds.begin(), place_.seeds.end());
    std::string reason;
    for (const Address& address : asked) {
      try {
        members_ = co_await members_by(address);
        co_return;
      } catch (const EngineUnavailable& error) {
        reason = error.what();
      }
    }
    throw EngineUnavailable(engine_name, "no node reports the members of the cluster: " + reason);
  }

  // The masters that serve slots; at least one.
  Task<std::vector<Address>> members_by(Address address) {
    const std::unique_ptr<Wire> wire = co_await open(address);
    const Deadline deadline = Deadline::after(clock_, config_.connect_timeout);
    Task<Reply> asking = wire->ask(encoded(Command("CLUSTER").arg("SLOTS")));
    const Reply reply = co_await with_deadline(clock_, deadline, address.to_string(), std::move(asking));
    if (reply.is_error()) throw EngineUnavailable(engine_name, reply.error());
    std::set<Address> masters;
    for (const SlotRange& range : read_slots(reply, address)) masters.insert(range.master);
    if (masters.empty()) throw EngineUnavailable(engine_name, address.to_string() + ": the cluster serves no slots");
    co_return std::vector<Address>(masters.begin(), masters.end());
  }

  Task<> take_messages(Wire& wire) {
    while (true) {
      while (const std::optional<Reply> reply = wire.next()) take(*reply);
      // Silence is answered with a ping, and silence after that is the end.
      bool heard = co_await fill(wire);
      if (heard) continue;
      co_await send(wire, encoded(Command("PING")));
      heard = co_await fill(wire);
      if (!heard) throw EngineUnavailable(engine_name, "the connection is silent");
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
  std::vector<Address> members_;  // of a cluster; empty until a node has reported them
  std::unique_ptr<Wire> wire_;    // while there is a connection
  bool has_left_ = false;         // the node of that connection is no member any more
  size_t turn_ = 0;
  size_t subscribed_ = 0;  // channels of this connection
  bool listening_ = false;
  TaskScope scope_;
};

Subscriber::Subscriber(RedisConfig config, Executor executor, Clock& clock, std::vector<std::string> channels,
                       Listener& listener)
    : session_(
          std::make_unique<Session>(std::move(config), std::move(executor), clock, std::move(channels), listener)) {}

Subscriber::~Subscriber() = default;

Task<> Subscriber::close() {
  return session_->close();
}

}  // namespace sluice::redis
