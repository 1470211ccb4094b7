#include "http/server/cors.h"

#include <algorithm>

namespace sluice::http {

void allow_origin(const std::vector<std::string>& allowed, std::string_view origin, Headers& headers) {
  if (std::ranges::find(allowed, "*") != allowed.end()) {
    headers.add("Access-Control-Allow-Origin", "*");
  } else {
    // The answer depends on the origin, also where it is refused.
    headers.add("Vary", "Origin");
    if (origin.empty() || std::ranges::find(allowed, origin) == allowed.end()) return;
    headers.add("Access-Control-Allow-Origin", origin);
  }
  headers.add("Access-Control-Expose-Headers",
              "Age, ETag, Location, Retry-After, Sluice-Degraded, Sluice-Source, X-Request-Id");
}

bool is_preflight(const Request& request) {
  return request.method == Method::options && !request.header("Origin").empty() &&
         !request.header("Access-Control-Request-Method").empty();
}

void add_preflight(std::string_view methods, Headers& headers) {
  headers.add("Access-Control-Allow-Methods", methods);
  headers.add("Access-Control-Allow-Headers",
              "Authorization, Content-Type, Idempotency-Key, If-None-Match, Last-Event-ID, traceparent, X-Request-Id");
  headers.add("Access-Control-Max-Age", "600");
}

}  // namespace sluice::http
