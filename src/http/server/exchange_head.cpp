// The head of an answer: Exchange::write_head and its decisions.
#include <charconv>

#include "http/server/conditional.h"
#include "http/server/cors.h"
#include "http/server/exchange.h"

namespace sluice::http {
namespace {

void append_number(std::string& out, uint64_t number) {
  std::array<char, 20> digits;
  const auto [end, ok] = std::to_chars(digits.begin(), digits.end(), number);
  out.append(digits.begin(), end);
}

// Answers without a body by definition.
bool is_bodyless(int status) {
  return status < 200 || status == 204 || status == 304;
}

// A field that breaks the line would let a value forge others; a handler that copies outside text must not be able to.
bool is_safe(std::string_view text) {
  return text.find_first_of(std::string_view("\r\n\0", 3)) == std::string_view::npos;
}

// Fields that the server writes itself.
bool is_ours(std::string_view name) {
  switch (name.size()) {
    case 4: return equal_ignoring_case(name, "Date");
    case 10: return equal_ignoring_case(name, "Connection");
    case 12: return equal_ignoring_case(name, "X-Request-Id");
    case 14: return equal_ignoring_case(name, "Content-Length");
    case 17: return equal_ignoring_case(name, "Transfer-Encoding");
    case 22: return equal_ignoring_case(name, "X-Content-Type-Options");
    default: return false;
  }
}

void append_fields(const Headers& headers, std::string& out) {
  for (const Headers::Field field : headers) {
    if (is_ours(field.name) || !is_safe(field.name) || !is_safe(field.value)) continue;
    out.append(field.name).append(": ").append(field.value).append("\r\n");
  }
}

}  // namespace

void Exchange::add_cors(Headers& headers) const {
  const auto& origins = thread_.server.config.cors_origins;
  if (origins.empty()) return;
  allow_origin(origins, request_.header("Origin"), headers);
}

// Whether its encoding depends on the request.
bool Exchange::may_compress(const Response& response) const {
  if (route_ == nullptr || !route_->options.compress || is_bodyless(response.status)) return false;
  if (std::holds_alternative<Takeover>(response.body)) return false;
  return is_compressible(response.headers.get("Content-Type")) && !response.headers.find("Content-Encoding");
}

bool Exchange::compress(Response& response, Plan& plan) {
  if (!accepts_gzip(request_.header("Accept-Encoding"))) return false;

  if (const std::string* body = whole_body(response)) {
    if (body->size() < thread_.server.config.compress_from) return false;
    if (!response.gzip) response.gzip = std::make_shared<const std::string>(thread_.gzip().compress(*body));
    response.body = std::move(response.gzip);
  } else {
    plan.compress_stream = true;
  }
  response.headers.add("Content-Encoding", "gzip");
  return true;
}

Exchange::Plan Exchange::write_head(Response& response, bool keep_alive, std::string& out) {
  Plan plan;
  const bool is_takeover = std::holds_alternative<Takeover>(response.body);
  // Before it may become a 304, which says the same as the answer it stands for (RFC 9110 15.4.5).
  const bool varies = may_compress(response);
  if (varies) response.headers.add("Vary", "Accept-Encoding");
  if (method_ == Method::get || method_ == Method::head) {
    const std::string* body = whole_body(response);
    if (response.status == 200 && body != nullptr && route_ != nullptr && route_->options.compute_etag &&
        !response.headers.find("ETag")) {
      response.headers.add("ETag", etag_of(*body));
    }
    answer_condition(request_.header("If-None-Match"), response);
  }
  if (varies && !is_bodyless(response.status) && compress(response, plan)) {
    // Compression changes the bytes, so a strong tag becomes weak; If-None-Match compares weakly anyway.
    const std::string etag(response.headers.get("ETag"));
    if (etag.starts_with('"')) response.headers.set("ETag", "W/" + etag);
  }
  add_cors(response.headers);

  out.append("HTTP/1.1 ");
  append_number(out, static_cast<uint64_t>(response.status));
  out.append(" ").append(reason_phrase(response.status)).append("\r\n").append(thread_.date);
  append_fields(response.headers, out);
  // Browsers must not guess a type other than Content-Type.
  out.append("X-Content-Type-Options: nosniff\r\n");
  out.append("X-Request-Id: ").append(request_.request_id).append("\r\n");

  const std::string* body = whole_body(response);
  if (is_bodyless(response.status)) {
    plan.send_body = false;
  } else if (body != nullptr) {
    out.append("Content-Length: ");
    append_number(out, body->size());
    out.append("\r\n");
  } else if (is_takeover || http_1_0_) {
    plan.framing = Framing::close;
  } else {
    plan.framing = Framing::chunked;
    out.append("Transfer-Encoding: chunked\r\n");
  }
  if (method_ == Method::head) plan.send_body = false;
  if (!keep_alive || plan.framing == Framing::close) {
    out.append("Connection: close\r\n");
  } else if (http_1_0_) {
    out.append("Connection: keep-alive\r\n");
  }
  out.append("\r\n");
  return plan;
}

}  // namespace sluice::http
