// Requests and responses as handlers see them.
//
// A Request refers to the connection's buffers and lives until its handler returns. A Response owns its content or
// shares it: a body sent to many clients at once is one shared string.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "runtime/deadline.h"
#include "runtime/task.h"

namespace sluice::http {

enum class Method { get, head, post, put, patch, del, options };
std::string_view name(Method method);
std::optional<Method> parse_method(std::string_view text);

// Header fields in order. Names compare without regard to case. One string holds all of the text, so that a message
// costs two allocations for any number of fields; views handed out are good until the next change.
class Headers {
 public:
  struct Field {
    std::string_view name;
    std::string_view value;
  };

  void add(std::string_view name, std::string_view value);
  // Replaces every field of that name.
  void set(std::string_view name, std::string_view value);
  void remove(std::string_view name);
  // The first field of that name.
  std::optional<std::string_view> find(std::string_view name) const;
  std::string_view get(std::string_view name) const { return find(name).value_or(std::string_view{}); }

  size_t size() const { return slots_.size(); }
  Field operator[](size_t i) const;
  // Keeps the memory for the next message.
  void clear();

  class Iterator {
   public:
    using value_type = Field;
    using difference_type = std::ptrdiff_t;

    Iterator() = default;
    Iterator(const Headers* headers, size_t at) : headers_(headers), at_(at) {}
    Field operator*() const { return (*headers_)[at_]; }
    Iterator& operator++() {
      ++at_;
      return *this;
    }
    Iterator operator++(int) { return {headers_, at_++}; }
    friend bool operator==(const Iterator&, const Iterator&) = default;

   private:
    const Headers* headers_ = nullptr;
    size_t at_ = 0;
  };
  Iterator begin() const { return {this, 0}; }
  Iterator end() const { return {this, slots_.size()}; }

 private:
  struct Slot {
    uint32_t start;  // of the name in text_; the value follows it
    uint32_t name_size;
    uint32_t value_size;
  };

  std::string text_;
  std::vector<Slot> slots_;
};

bool equal_ignoring_case(std::string_view a, std::string_view b);

// A body that arrives or leaves in pieces. `next` gives nothing at the end.
class BodySource {
 public:
  virtual ~BodySource() = default;
  virtual Task<std::optional<std::string>> next() = 0;
};

// The connection that a request came over, for handlers that wait long or have yet to get their body. Belongs to the
// connection's thread.
class RequestConnection {
 public:
  virtual ~RequestConnection() = default;
  // Whether the client has disconnected. Asks the system; a client that vanished without closing is not noticed.
  virtual bool has_hung_up() = 0;
  // For routes that decide on the head: reads the rest of the body into Request::body. Throws the server's answer if
  // the body does not arrive, is malformed or too large, or if there is no memory for it.
  virtual Task<> receive_body() = 0;
};

struct PathParam {
  std::string_view name;
  std::string value;  // percent-decoded
};

struct Request {
  Method method = Method::get;
  std::string_view target;  // as sent, without fragment
  std::string path;         // percent-decoded and validated: no empty, "." or ".." segment, no NUL, valid UTF-8
  std::string_view query;   // as sent, without the question mark
  const Headers* headers = nullptr;
  std::string body;              // complete, unless the route asked for a stream or decides on the head
  bool body_pending = false;     // where the route decides on the head: some of the body has yet to be received
  BodySource* stream = nullptr;  // for routes that take their body in pieces
  RequestConnection* connection = nullptr;  // as long as the handler runs
  std::vector<PathParam> params;            // of the route's pattern
  std::string client_address;               // of the peer, or as reported by a trusted proxy
  bool secure = false;                      // over TLS, or a trusted proxy says so
  std::string request_id;                   // taken over from X-Request-Id where valid, else made
  std::string traceparent;                  // W3C; taken over where valid, else made
  Deadline deadline{};

  std::string_view header(std::string_view name) const { return headers->get(name); }
  // The route's parameter of that name; asking for one the pattern does not have is a mistake of ours.
  const std::string& param(std::string_view name) const;
  // The first query parameter of that name, percent-decoded; nothing if there is none.
  std::optional<std::string> query_param(std::string_view name) const;
  // Every query parameter, decoded, in order.
  std::vector<std::pair<std::string, std::string>> query_params() const;
};

using SharedBytes = std::shared_ptr<const std::string>;

// Takes the connection over once the head is written, for answers that stay open for long (http/sse/sse.h). Called on
// the connection's thread.
class Outlet;
using Takeover = std::move_only_function<void(std::shared_ptr<Outlet>)>;

struct Response {
  int status = 200;
  Headers headers;
  std::variant<std::string, SharedBytes, std::unique_ptr<BodySource>, Takeover> body;
  // The same body compressed, where the handler has it; sent to clients that accept it instead of compressing again.
  SharedBytes gzip{};
  // Awaited on the connection's thread if the answer could not be sent completely: undoes its effects.
  std::move_only_function<Task<>()> if_unsent{};

  static Response text(int status, std::string body, std::string content_type = "text/plain; charset=utf-8");
  static Response json(int status, std::string body);
  static Response empty(int status) { return {.status = status, .headers = {}, .body = std::string{}}; }
};

// The body where it is one string; null where it comes in pieces or the connection is taken over.
const std::string* whole_body(const Response& response);

// Answers one request, on the I/O thread of its connection. References in it must outlive the server. The server
// answers exceptions: EngineUnavailable with 503 and Retry-After, any other with 500.
using Handler = std::function<Task<Response>(Request&)>;

}  // namespace sluice::http
