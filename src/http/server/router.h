// Which handler answers which path.
//
//   router.add(Method::get, "/api/v1/events/{event:uuid}", handler);
//   router.add(Method::get, "/api/v1/documents/{origin}/{path...}", handler, {.timeout = 10s});
//
// A pattern's segment is a literal, `{name}` (any one segment), `{name:uuid}`, `{name:int}` (a whole number) or, at the
// end, `{name...}` (one segment or more). At every segment a literal beats a typed parameter beats an untyped one beats
// the rest, and a choice that leads nowhere further down is taken back. A segment of the wrong type is no match.
//
// Routes are added before the server starts; matching is safe from any number of threads.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "http/message.h"

namespace sluice::http {

struct RouteOptions {
  size_t max_body = 1 << 20;   // 413 above; http.body_memory also limits a body that is not streamed
  Duration timeout = 30s;      // the handler's deadline; 0: none
  bool streamed_body = false;  // the handler reads Request::stream instead of Request::body
  // The handler begins when the head is there, and calls RequestConnection::receive_body if Request::body_pending and
  // it wants the body. So nothing is read, and no 100 Continue sent, for callers that it refuses.
  bool decides_on_head = false;
  bool always_served = false;  // not counted among the requests in flight: for health checks
  // Accepted types of a body; others get 415. "*/*" accepts any.
  std::vector<std::string> content_types = {"application/json"};
  bool compress = true;       // gzip where the client takes it and the answer gains by it
  bool compute_etag = false;  // from the answer's bytes, where the handler sets none
  std::string label{};        // of the metrics; the pattern unless set
};

class RouteMetrics;

struct Route {
  Method method;
  std::string pattern;
  Handler handler;
  RouteOptions options;
  std::shared_ptr<RouteMetrics> metrics;
};

class Router {
 public:
  Router();
  ~Router();
  Router(Router&&) noexcept;
  Router& operator=(Router&&) noexcept;

  // Adding a pattern twice for one method, or a malformed one, is a mistake of ours. A GET route also answers HEAD.
  void add(Method method, std::string_view pattern, Handler handler, RouteOptions options = {});

  struct Match {
    const Route* route = nullptr;  // none: see `allowed`
    // The methods this path has; empty where no pattern fits (404), else it is 405 or OPTIONS.
    std::vector<Method> allowed;
  };
  // `path` is decoded and validated (http/server/path.h). Parameters are written to `params`. No route has a method
  // that is not one of ours (TRACE, say): `method` is empty then.
  Match match(std::optional<Method> method, std::string_view path, std::vector<PathParam>& params) const;

  // In the order they were added.
  const std::vector<std::unique_ptr<Route>>& routes() const { return routes_; }

 private:
  struct Node;
  struct Segment;
  static std::vector<Segment> parse(std::string_view pattern);

  std::vector<std::unique_ptr<Route>> routes_;
  std::unique_ptr<Node> root_;
};

}  // namespace sluice::http
