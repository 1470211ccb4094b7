// JSON bodies, large ones read on a thread of their own.
//
// Reading takes time that grows with the body, and for a moment up to 17 times its memory. A large body read on an I/O
// thread would make every other connection of that thread wait, and one on each thread at once would multiply the
// memory: so there is one thread for all of them.
#pragma once

#include <string>
#include <utility>

#include "base/json.h"
#include "http/message.h"
#include "runtime/offload.h"

namespace sluice::api {

// Safe to share between threads.
class BodyReader {
 public:
  static constexpr size_t large = 256 << 10;

  // Decodes the request's body as a T, or returns the problem response. Throws Overloaded if too many large bodies
  // wait; the body is lost then.
  template <class T>
  Task<Result<T, json::DecodeError>> decode(http::Request& request);

 private:
  static constexpr size_t max_waiting = 64;

  Offload thread_{"bodies", 1, max_waiting};
};

template <class T>
Task<Result<T, json::DecodeError>> BodyReader::decode(http::Request& request) {
  if (request.body.size() <= large) co_return json::decode<T>(request.body);
  // The thread owns the text it reads: the request may end before it does.
  auto work = [text = std::move(request.body)]() mutable {
    Result<T, json::DecodeError> decoded = json::decode<T>(text);
    return std::pair(std::move(decoded), std::move(text));
  };
  auto done = co_await thread_.run(std::move(work));
  request.body = std::move(done.second);
  co_return std::move(done.first);
}

}  // namespace sluice::api
