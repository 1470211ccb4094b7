#include "lab/origin_server.h"

#include "base/json.h"
#include "lab/sample_layouts.h"

namespace sluice::lab {
namespace {

constexpr Duration stall_limit = 1h;
constexpr const char* xml = "application/xml";

constexpr std::string_view error_page =
    "<!DOCTYPE html>\n<html><head><title>Error</title></head>\n"
    "<body>The service is busy.<br>Please try again later.</body></html>\n";
constexpr std::string_view disguised_page =
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<html xmlns=\"http://www.w3.org/1999/xhtml\">\n"
    "<head><title>Error</title></head><body><p>The service is busy.</p></body></html>\n";

Reply in_json(int status, std::string body) {
  return {.status = status, .content_type = "application/json", .body = std::move(body)};
}

bool is_layout(std::string_view path) {
  const auto& layouts = sample_layouts();
  return path.starts_with("extra/") || std::ranges::find(layouts, path, &SampleLayout::path) != layouts.end();
}

Reply reply_for(UnknownAnswer answer) {
  switch (answer) {
    case UnknownAnswer::not_found: return {.status = 404, .content_type = "text/html", .body = std::string(error_page)};
    case UnknownAnswer::failure: return {.status = 500, .content_type = "text/html", .body = std::string(error_page)};
    case UnknownAnswer::html: break;
  }
  return {.content_type = "text/html; charset=utf-8", .body = std::string(error_page)};
}

Reply reply_for(Fate fate, std::string_view path, size_t size) {
  switch (fate) {
    case Fate::failure: return {.status = 500, .content_type = "text/html", .body = std::string(error_page)};
    case Fate::html: return {.content_type = "text/html; charset=utf-8", .body = std::string(error_page)};
    case Fate::disguised: return {.content_type = xml, .body = std::string(disguised_page)};
    case Fate::truncation: return {.content_type = xml, .body = make_layout(path, size), .half = true};
    case Fate::stall:
    case Fate::document: break;
  }
  return {.content_type = xml, .body = make_layout(path, size)};
}

}  // namespace

Task<bool> OriginServer::answer(BareConnection& connection) {
  const std::string_view target = connection.head().target;
  if (target.starts_with("/stats") || target.starts_with("/settings")) {
    Reply reply = manage(connection);
    co_return co_await connection.send(std::move(reply));
  }
  std::string path(target.substr(1, target.find('?') - 1));
  co_return co_await answer_document(connection, std::move(path));
}

Task<bool> OriginServer::answer_document(BareConnection& connection, std::string path) {
  const OriginCounts::Open open(counts_, path);
  const Fate fate = settings_.draw_fate(random_);
  const Duration delay = fate == Fate::stall ? Duration{stall_limit} : settings_.draw_latency(random_);
  const bool there = co_await connection.still_there_after(delay);
  if (!there || fate == Fate::stall) co_return false;
  Reply reply = is_layout(path) ? reply_for(fate, path, settings_.size) : reply_for(settings_.unknown);
  co_return co_await connection.send(std::move(reply));
}

Reply OriginServer::manage(const BareConnection& connection) {
  using http::Method;
  const auto is = [&head = connection.head()](Method method, std::string_view path) {
    return head.method == method && head.target == path;
  };
  if (is(Method::get, "/stats")) return in_json(200, counts_.to_json());
  if (is(Method::post, "/stats/reset")) {
    counts_.reset();
    return in_json(200, counts_.to_json());
  }
  if (is(Method::put, "/settings")) {
    const auto changed = settings_.changed_by(connection.body());
    if (!changed) return {.status = 400, .content_type = "text/plain", .body = changed.error() + "\n"};
    settings_ = *changed;
  }
  if (is(Method::get, "/settings") || is(Method::put, "/settings")) return in_json(200, settings_.to_json());
  return {.status = 404, .content_type = "text/plain", .body = "GET /stats, POST /stats/reset, GET|PUT /settings\n"};
}

OriginServer::OriginServer(asio::io_context& context, OriginSettings settings, Clock& clock, Random& random)
    : settings_(settings),
      random_(random),
      server_(context, clock, [this](BareConnection& connection) { return answer(connection); }) {}

}  // namespace sluice::lab
