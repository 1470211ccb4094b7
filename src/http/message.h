// Requests and responses as handlers see them.
//
// A Request refers to the connection's buffers and lives until its handler returns. A Response owns what it carries, or
// shares it: a body that many clients get at once is one shared string.
#pragma once

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

// Header fields in order. Names compare without regard to case. Few enough that a linear search is the fastest.
class Headers {
 public:
  struct Field {
    std::string name;
    std::string value;
  };

  void add(std::string name, std::string value) { fields_.push_back({std::move(name), std::move(value)}); }
  // Replaces every field of that name.
  void set(std::string name, std::string value);
  void remove(std::string_view name);
  // The first field of that name.
  const std::string* find(std::string_view name) const;
  std::string_view get(std::string_view name) const;  // empty where there is none

  auto begin() const { return fields_.begin(); }
  auto end() const { return fields_.end(); }
  size_t size() const { return fields_.size(); }
  void clear() { fields_.clear(); }

 private:
  std::vector<Field> fields_;
};

bool equal_ignoring_case(std::string_view a, std::string_view b);

// A body that arrives or leaves in pieces. `next` gives nothing at the end.
class BodySource {
 public:
  virtual ~BodySource() = default;
  virtual Task<std::optional<std::string>> next() = 0;
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
  std::string body;               // complete, unless the route asked for a stream
  BodySource* stream = nullptr;   // for routes that take their body in pieces
  std::vector<PathParam> params;  // of the route's pattern
  std::string client_address;     // the peer's, or what a trusted proxy says it is
  bool secure = false;            // over TLS, or a trusted proxy says so
  std::string request_id;         // taken over from X-Request-Id where valid, else made
  std::string traceparent;        // W3C; taken over where valid, else made
  Deadline deadline{};

  std::string_view header(std::string_view name) const { return headers->get(name); }
  // The route's parameter of that name; asking for one the pattern does not have is a mistake of ours.
  const std::string& param(std::string_view name) const;
  // The first query parameter of that name, percent-decoded; nothing where there is none.
  std::optional<std::string> query_param(std::string_view name) const;
  // Every query parameter, decoded, in order.
  std::vector<std::pair<std::string, std::string>> query_params() const;
};

using SharedBytes = std::shared_ptr<const std::string>;

struct Response {
  int status = 200;
  Headers headers;
  std::variant<std::string, SharedBytes, std::unique_ptr<BodySource>> body;

  static Response text(int status, std::string body, std::string content_type = "text/plain; charset=utf-8");
  static Response json(int status, std::string body);
  static Response empty(int status) { return {.status = status, .headers = {}, .body = std::string{}}; }
};

// Answers one request. References in it are to what outlives the server.
using Handler = std::function<Task<Response>(Request&)>;

}  // namespace sluice::http
