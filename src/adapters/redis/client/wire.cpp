#include "adapters/redis/client/wire.h"

#include "adapters/redis/client/command.h"
#include "adapters/redis/client/hash_slots.h"
#include "adapters/redis/client/redis.h"

namespace sluice::redis {
namespace {

std::string remedy(const RedisConfig& config, std::string_view error) {
  if (error.starts_with("WRONGPASS")) return "check redis.user and the password";
  if (error.starts_with("NOAUTH")) return "it requires a password; set SLUICE_REDIS_PASSWORD or redis.password_file";
  if (error.starts_with("NOPERM")) {
    return fmt::format("grant the user {} the missing permission; INFO is always required",
                       config.user.empty() ? "default" : config.user);
  }
  return "Redis 7 or Valkey is required";
}

std::string encoded(const Command& command) {
  std::string bytes;
  command.encode(bytes, Command::ScriptBy::hash);
  return bytes;
}

Command hello(const RedisConfig& config) {
  Command command("HELLO");
  command.arg(2);
  if (!config.password.empty()) {
    command.arg("AUTH").arg(config.user.empty() ? "default" : config.user).arg(config.password);
  }
  command.arg("SETNAME").arg(config.client_name);
  return command;
}

}  // namespace

Task<std::unique_ptr<Wire>> Wire::open(const Access& access, Address address) {
  std::unique_ptr<Stream> stream = co_await Stream::connect(address, access.tls.get());
  std::unique_ptr<Wire> wire(new Wire(std::move(stream), std::move(address), access.config.max_reply));
  co_await wire->log_in(access);
  co_return wire;
}

Task<> Wire::log_in(const Access& access) {
  std::vector<Command> commands{hello(access.config), Command("INFO").arg("replication")};
  if (access.database != 0) commands.push_back(Command("SELECT").arg(access.database));
  Reply info;
  for (size_t i = 0; i < commands.size(); ++i) {
    Reply reply = co_await ask(encoded(commands[i]));
    if (reply.is_error()) {
      const std::string& error = reply.error();
      throw EngineUnavailable(engine_name, fmt::format("{} refused the login: {} ({})", address_.to_string(), error,
                                                       remedy(access.config, error)));
    }
    if (i == 1) info = std::move(reply);
  }
  if (info_field(info.text(), "master_replid").size() != 40) {
    throw EngineUnavailable(engine_name, fmt::format("{} does not report its replication id", address_.to_string()));
  }
}

Task<Reply> Wire::ask(std::string bytes) {
  co_await stream_->write(bytes);
  while (true) {
    std::optional<Reply> reply = next();
    if (reply) co_return std::move(*reply);
    co_await fill();
  }
}

Task<> Wire::fill() {
  const size_t bytes = co_await stream_->read(chunk_);
  reader_.feed({chunk_.data(), bytes});
}

}  // namespace sluice::redis
