// A connection that is logged in: bytes out, replies in.
//
// The common part of commands (connection.h) and messages (subscriber.h). Belongs to one executor; its config and TLS
// context must outlive its opening only.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>

#include "adapters/redis/client/reply_reader.h"
#include "adapters/redis/client/stream.h"

namespace sluice::redis {

// Credentials and options for every connection of a client.
struct Access {
  const RedisConfig& config;
  unsigned database = 0;
  std::unique_ptr<asio::ssl::context> tls;  // null: without
};

class Wire {
 public:
  // Connects and shows user and password. Throws EngineUnavailable with one sentence, also where the server does not
  // tell its replication history, which scripts ask for (Script::with_history).
  static Task<std::unique_ptr<Wire>> open(const Access& access, Address address);

  const Address& address() const { return address_; }

  void write(std::string_view bytes, Stream::Done done) { stream_->write(bytes, std::move(done)); }
  Task<> write(std::string_view bytes) { return stream_->write(bytes); }
  // Sends a command and returns its reply. Only while there is no other reader or writer.
  Task<Reply> ask(std::string bytes);
  // Reads available bytes, at least one. Throws EngineUnavailable when the connection is lost.
  Task<> fill();
  // The next complete reply among the bytes read.
  std::optional<Reply> next() { return reader_.next(); }

  void close() { stream_->close(); }

 private:
  Wire(std::unique_ptr<Stream> stream, Address address, size_t max_reply)
      : stream_(std::move(stream)), address_(std::move(address)), reader_(max_reply) {}
  Task<> log_in(const Access& access);

  std::unique_ptr<Stream> stream_;
  Address address_;
  ReplyReader reader_;
  // hiredis moves the rest of a chunk after each kilobyte, so a large chunk would cost more than it saves.
  std::array<char, 16 * 1024> chunk_;
};

}  // namespace sluice::redis
