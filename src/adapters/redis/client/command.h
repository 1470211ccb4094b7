// A command on its way to Redis.
//
//   Command set = Command("SET").key(name).arg(value).arg("PX").arg(1500);
//   Command draw = Command(draw_script, {ring, credit}).arg(count);
//
// Encoded as it is built. Keys are named as keys, because a cluster finds the node by them; all keys of a command must
// belong to one slot, so they share a hash tag ("{event-7}:line"). Breaking that is a mistake of ours and is checked
// without a cluster, too.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "adapters/redis/client/script.h"
#include "base/time.h"

namespace sluice::redis {

class Command {
 public:
  explicit Command(std::string_view name);
  // `script` must outlive the call. It may touch only these keys.
  Command(const Script& script, std::initializer_list<std::string_view> keys);
  Command(const Script& script, std::span<const std::string> keys);

  auto&& key(this auto&& self, std::string_view key) {
    self.route_by(key);
    self.add(key);
    return std::forward<decltype(self)>(self);
  }
  auto&& arg(this auto&& self, std::string_view text) {
    self.add(text);
    return std::forward<decltype(self)>(self);
  }
  auto&& arg(this auto&& self, std::integral auto number) {
    self.add(std::to_string(number));
    return std::forward<decltype(self)>(self);
  }
  // Goes where `key` lives without naming it.
  auto&& at(this auto&& self, std::string_view key) {
    self.route_by(key);
    return std::forward<decltype(self)>(self);
  }
  // Doing it twice is as good as once: after a lost connection it is sent again, within its time.
  auto&& repeatable(this auto&& self) {
    self.repeatable_ = true;
    return std::forward<decltype(self)>(self);
  }
  // Its time, where RedisConfig::command_timeout does not fit.
  auto&& within(this auto&& self, Duration timeout) {
    self.timeout_ = timeout;
    return std::forward<decltype(self)>(self);
  }

  // For the client.
  enum class ScriptBy { hash, text };
  void encode(std::string& out, ScriptBy by) const;
  std::optional<uint16_t> slot() const { return slot_; }
  bool is_script() const { return script_ != nullptr; }
  bool is_repeatable() const { return repeatable_; }
  std::optional<Duration> timeout() const { return timeout_; }

 private:
  void add(std::string_view text);
  void route_by(std::string_view key);
  void add_keys(auto keys);

  const Script* script_ = nullptr;
  std::string encoded_;  // the arguments; of a script those after its hash
  unsigned count_ = 0;
  std::optional<uint16_t> slot_;
  std::optional<Duration> timeout_;
  bool repeatable_ = false;
};

}  // namespace sluice::redis
