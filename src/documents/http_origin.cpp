#include "documents/http_origin.h"

#include "base/check.h"
#include "documents/content_check.h"
#include "runtime/log.h"

namespace sluice::documents {
namespace {

FetchError error_of(const http::ClientError& error) {
  using Kind = http::ClientError::Kind;
  if (error.kind == Kind::timeout) return FetchError::timeout;
  if (error.kind == Kind::too_large) return FetchError::too_large;
  return FetchError::failed;
}

FetchError error_of(int status) {
  if (status == 404 || status == 410) return FetchError::missing;
  if (status == 429) return FetchError::throttled;
  if (status >= 500) return FetchError::failed;
  return status >= 400 ? FetchError::refused : FetchError::invalid;
}

}  // namespace

HttpOrigin::HttpOrigin(const OriginConfig& config, http::Client& client, const Clock& clock)
    : config_(config), client_(client), clock_(clock) {}

Task<Result<DocumentPtr, FetchError>> HttpOrigin::fetch(DocumentPath path, std::string traceparent) {
  const auto url = document_url(config_.base_url, path);
  sluice::check(url.has_value(), "the configuration was validated");
  http::ClientRequest request{.url = *url};
  request.headers.add("User-Agent", config_.user_agent);
  request.timeout = config_.timeout;
  request.max_bytes = static_cast<size_t>(config_.max_bytes.bytes);
  request.redirects = http::Redirects::same_host;
  request.gzip = true;
  request.traceparent = std::move(traceparent);
  Result<http::ClientAnswer, http::ClientError> answer = co_await client_.send(std::move(request));
  if (!answer) {
    log::warning("origin request failed",
                 {{"origin", config_.name}, {"path", path.text()}, {"error", answer.error().text}});
    co_return error_of(answer.error());
  }
  co_return check(path, std::move(*answer));
}

Result<DocumentPtr, FetchError> HttpOrigin::check(const DocumentPath& path, http::ClientAnswer answer) const {
  if (answer.status != 200) {
    log::warning("origin returned an error",
                 {{"origin", config_.name}, {"path", path.text()}, {"status", answer.status}});
    return error_of(answer.status);
  }
  const std::string content_type(answer.headers.get("Content-Type"));
  if (const auto fault = find_fault(config_.require, content_type, answer.body)) {
    log::warning("the origin's response is not a valid document",
                 {{"origin", config_.name}, {"path", path.text()}, {"fault", *fault}});
    return FetchError::invalid;
  }
  auto document = std::make_shared<Document>();
  document->etag = etag_of(answer.body);
  document->body = std::move(answer.body);
  document->content_type = content_type.empty() ? "application/octet-stream" : content_type;
  document->fetched_at = clock_.wall();
  return DocumentPtr(std::move(document));
}

}  // namespace sluice::documents
