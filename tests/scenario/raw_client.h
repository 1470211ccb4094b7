// An HTTP client that sends exactly the bytes it is told to, for tests of how a server takes them.
//
// Blocking, on one socket, with a limit on every wait: a test that hangs fails with what it has read so far.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace sluice::test {

struct RawResponse {
  int status = 0;
  std::string head;  // with its empty line
  std::string body;  // chunks put together

  // The value of the first field of that name, or "".
  std::string header(std::string_view name) const;
};

class RawClient {
 public:
  explicit RawClient(uint16_t port, std::chrono::seconds patience = std::chrono::seconds(60));
  ~RawClient();
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;

  void send(std::string_view bytes);
  // Like send, but stops quietly where the server has closed.
  void try_send(std::string_view bytes);
  // Nothing more will be sent.
  void shutdown();
  // A response with Content-Length, chunked, or until the end. `has_body` is false after HEAD.
  RawResponse read_response(bool has_body = true);
  // Reads until `text` has arrived and returns everything up to and with it.
  std::string read_until(std::string_view text);
  // Everything up to the end of the connection.
  std::string read_to_end();

  // Sends a GET with Host and reads the answer.
  RawResponse get(std::string_view target, std::string_view more_headers = "");

  int descriptor() const { return descriptor_; }

 private:
  bool fill();  // false at the end

  int descriptor_;
  std::string buffer_;
};

}  // namespace sluice::test
