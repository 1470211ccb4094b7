#include "adapters/redis/client/command.h"

#include <iterator>

#include <fmt/format.h>

#include "adapters/redis/client/hash_slots.h"
#include "base/check.h"

namespace sluice::redis {
namespace {

void append_bulk(std::string& out, std::string_view text) {
  fmt::format_to(std::back_inserter(out), "${}\r\n", text.size());
  out += text;
  out += "\r\n";
}

}  // namespace

Command::Command(std::string_view name) {
  add(name);
}

Command::Command(const Script& script, std::initializer_list<std::string_view> keys) : script_(&script) {
  add_keys(keys);
}

Command::Command(const Script& script, std::span<const std::string> keys) : script_(&script) {
  add_keys(keys);
}

void Command::add_keys(auto keys) {
  add(std::to_string(keys.size()));
  for (const std::string_view each : keys) {
    route_by(each);
    add(each);
  }
}

void Command::add(std::string_view text) {
  append_bulk(encoded_, text);
  ++count_;
}

void Command::route_by(std::string_view key) {
  const uint16_t slot = slot_of(key);
  check_that(!slot_ || *slot_ == slot,
             "the key {} is in another slot than the previous keys; use the same hash tag for all", key);
  slot_ = slot;
}

void Command::encode(std::string& out, ScriptBy by) const {
  fmt::format_to(std::back_inserter(out), "*{}\r\n", script_ != nullptr ? count_ + 2 : count_);
  if (script_ != nullptr) {
    append_bulk(out, by == ScriptBy::hash ? "EVALSHA" : "EVAL");
    append_bulk(out, by == ScriptBy::hash ? script_->sha1() : script_->text());
  }
  out += encoded_;
}

}  // namespace sluice::redis
