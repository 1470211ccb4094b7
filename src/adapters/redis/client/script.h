// A Lua script that the server runs as one atomic step.
//
//   const Script release{R"(
//     if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
//     return redis.call('DEL', KEYS[1])
//   )"};
//
// A constant of the file that uses it. It is sent by its hash; a server that does not know it (it was restarted, or
// its scripts were flushed) gets the text, once, in the same call.
#pragma once

#include <string>

namespace sluice::redis {

class Script {
 public:
  explicit Script(std::string text);
  // With a function `history()`: the replication history of the server that runs it (INFO's master_replid). It
  // identifies the server for as long as it is master; a start and every promotion begin a new one, even for a server
  // that was master before. Read by the script itself it is never out of date. State written under another history may
  // lack later writes.
  static std::string with_history(const char* text);
  Script(const Script&) = delete;
  Script& operator=(const Script&) = delete;

  const std::string& text() const { return text_; }
  const std::string& sha1() const { return sha1_; }  // 40 hexadecimal digits

 private:
  std::string text_;
  std::string sha1_;
};

}  // namespace sluice::redis
