#include "http/server/exchange.h"

#include <algorithm>
#include <charconv>

#include "http/server/conditional.h"
#include "http/server/cors.h"
#include "http/server/path.h"
#include "http/server/trace.h"
#include "runtime/errors.h"
#include "runtime/log.h"

namespace sluice::http {
namespace {

std::string join(const std::vector<Method>& methods) {
  std::string out;
  for (const Method method : methods) out.append(out.empty() ? "" : ", ").append(name(method));
  return out.append(", OPTIONS");
}

}  // namespace

Problem problem_of(ParseError error) {
  switch (error) {
    case ParseError::malformed: return {400, "malformed-request", "The request is not well-formed HTTP."};
    case ParseError::target_too_long: return {414, "target-too-long", "The URL is too long."};
    case ParseError::head_too_large: return {431, "head-too-large", "The header fields are too large."};
    case ParseError::too_many_headers: return {431, "too-many-headers", "There are too many header fields."};
    case ParseError::body_too_large: return {413, "body-too-large", "The body exceeds the limit of this route."};
    case ParseError::unknown_coding:
      return {501, "unknown-transfer-coding", "The transfer coding is not supported; use chunked."};
  }
  return {400, "malformed-request", "The request is not well-formed HTTP."};
}

Problem request_timeout() {
  return {408, "request-timeout", "The request did not arrive in time."};
}

Problem overloaded() {
  return {.status = 503, .code = "overloaded", .title = "The server is overloaded.", .retry_after = Duration{1s}};
}

Problem body_memory_used_up() {
  count_rejected("body_memory");
  Problem problem = overloaded();
  problem.detail = "The memory for request bodies is full.";
  return problem;
}

Problem client_gone() {
  return {499, "client-gone", "The client disconnected before the response was sent."};
}

bool is_accepted_type(const std::vector<std::string>& accepted, std::string_view content_type) {
  std::string_view type = content_type.substr(0, content_type.find(';'));
  while (type.ends_with(' ')) type.remove_suffix(1);
  return std::ranges::any_of(accepted, [type](const std::string& candidate) {
    return candidate == "*/*" || equal_ignoring_case(candidate, type);
  });
}

void Exchange::name(const RequestHead& head, const Client& peer) {
  began_ = thread_.server.clock.now();
  route_ = nullptr;
  method_ = head.method;
  http_1_0_ = head.http_1_0;
  request_.method = head.method.value_or(Method::get);
  request_.target = head.target;
  request_.path.clear();
  request_.query = {};
  request_.headers = &head.headers;
  request_.body.clear();
  request_.body_pending = false;
  request_.stream = nullptr;
  request_.params.clear();
  request_.deadline = {};
  const Client client = client_of(thread_.server.trusted_proxies, peer, head.headers);
  if (request_.client_address.empty() || client.address != client_) {
    client_ = client.address;
    request_.client_address = client_.to_string();
    client_masked_ = masked(client_);
  }
  request_.secure = client.secure;
  name_request(head.headers.get("X-Request-Id"), head.headers.get("traceparent"), thread_.random, request_.request_id,
               request_.traceparent);
}

Response Exchange::refuse(const RequestHead& head, const Client& peer, const Problem& problem) {
  name(head, peer);
  return answer(problem);
}

std::optional<Response> Exchange::begin(const RequestHead& head, const Client& peer) {
  name(head, peer);
  if (auto refused = find_route(head)) return refused;
  if (const auto problem = check_body(head)) return answer(*problem);
  if (route_->options.timeout.count() > 0) request_.deadline = {began_ + route_->options.timeout};
  return std::nullopt;
}

std::optional<Response> Exchange::find_route(const RequestHead& head) {
  if (head.method == Method::options && head.target == "*") {
    return answer_options({Method::get, Method::head, Method::post, Method::put, Method::patch, Method::del});
  }
  const auto target = split_target(head.target);
  if (target && !is_decodable(target->query)) {
    return answer({400, "malformed-query", "Malformed query", "The query has a broken percent escape."});
  }
  if (!target || !decode_path(target->path, request_.path)) {
    return answer({400, "malformed-path", "Malformed request path.",
                   "The path must not contain empty, '.' or '..' segments, encoded slashes, control characters or "
                   "broken escapes."});
  }
  request_.query = target->query;
  Router::Match match = thread_.server.router.match(head.method, request_.path, request_.params);
  route_ = match.route;
  if (route_ != nullptr) return std::nullopt;
  if (match.allowed.empty()) return answer({404, "not-found", "No resource at this path."});
  if (head.method == Method::options) return answer_options(match.allowed);
  Response response = answer({405, "method-not-allowed", "Method not allowed for this path."});
  response.headers.add("Allow", join(match.allowed));
  return response;
}

uint64_t Exchange::body_limit() const {
  const RouteOptions& options = route_->options;
  return options.streamed_body ? options.max_body : std::min(options.max_body, thread_.server.config.body_memory);
}

std::optional<Problem> Exchange::check_body(const RequestHead& head) const {
  if (!head.has_body()) return std::nullopt;
  const RouteOptions& options = route_->options;
  if (!is_accepted_type(options.content_types, head.headers.get("Content-Type"))) {
    return Problem{415, "unsupported-media-type", "Unsupported Content-Type.",
                   "Accepted: " + fmt::format("{}", fmt::join(options.content_types, ", "))};
  }
  const std::string_view coding = head.headers.get("Content-Encoding");
  if (!coding.empty() && !equal_ignoring_case(coding, "identity")) {
    return Problem{415, "unsupported-media-type", "Unsupported Content-Encoding.",
                   "Send the body without a Content-Encoding."};
  }
  if (head.content_length > body_limit()) return problem_of(ParseError::body_too_large);
  return std::nullopt;
}

Response Exchange::answer_options(const std::vector<Method>& allowed) const {
  Response response = Response::empty(204);
  response.headers.add("Allow", join(allowed));
  if (!thread_.server.config.cors_origins.empty() && is_preflight(request_))
    add_preflight(join(allowed), response.headers);
  return response;
}

Response Exchange::answer_failure(const std::exception_ptr& failure, bool deadline_passed) const {
  try {
    std::rethrow_exception(failure);
  } catch (const BodyFailed& error) {
    return answer(error.problem());
  } catch (const EngineUnavailable& error) {
    log::warning("engine unavailable", {{"request_id", request_.request_id}, {"error", error.what()}});
    return answer({.status = 503,
                   .code = "engine-unavailable",
                   .title = "A required service is unavailable.",
                   .retry_after = error.retry_after()});
  } catch (const std::exception& error) {
    if (deadline_passed) {
      log::warning("request deadline exceeded", {{"request_id", request_.request_id}, {"path", request_.path}});
      return answer({.status = 503,
                     .code = "deadline-exceeded",
                     .title = "The request took too long.",
                     .retry_after = Duration{1s}});
    }
    log::error("handler failed",
               {{"request_id", request_.request_id}, {"path", request_.path}, {"error", error.what()}});
  } catch (...) {
    log::error("handler failed", {{"request_id", request_.request_id}, {"path", request_.path}});
  }
  return answer({500, "internal-error", "Internal server error."});
}

void Exchange::finish(int status, uint64_t bytes) {
  const auto duration = std::chrono::floor<Duration>(thread_.server.clock.now() - began_);
  RouteMetrics& metrics = route_ != nullptr ? *route_->metrics : thread_.server.unmatched(method_);
  metrics.count(status, duration);
  if (!thread_.server.config.access_log) return;
  log::info("request", {{"method", method_ ? http::name(*method_) : "?"},
                        {"path", request_.path},
                        {"status", status},
                        {"bytes", bytes},
                        {"duration_us", duration.count()},
                        {"request_id", request_.request_id},
                        {"traceparent", request_.traceparent},
                        {"client", client_masked_}});
}

}  // namespace sluice::http
