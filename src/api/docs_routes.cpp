#include "api/openapi.h"
#include "api/system_routes.h"

namespace sluice::api {
namespace {

// Pages run no scripts and load nothing from elsewhere.
constexpr std::string_view page_policy =
    "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

constexpr std::string_view style =
    "body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 "
    "1rem;color:#1a2330;background:#fff}"
    "a{color:#0b5cad}h1 small{color:#667;font-size:1rem}h3{margin:1.5rem 0 0}section{border-top:1px solid #dde}"
    "pre{overflow:auto;background:#f4f6f9;padding:.5rem}"
    "@media(prefers-color-scheme:dark){body{color:#e4e8ee;background:#12161c}a{color:#7db8ff}pre{background:#1c232c}"
    "section{border-color:#2c3540}}";

constexpr std::string_view home =
    "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>Sluice</title>"
    "<meta name=\"viewport\" content=\"width=device-width\"><link rel=\"stylesheet\" href=\"/style.css\"></head><body>"
    "<h1>Sluice</h1><p>Sluice is running. The API is documented at <a href=\"/docs\">/docs</a>; "
    "<a href=\"/readyz\">/readyz</a> shows the state of its engines.</p>"
    "<p lang=\"ko\">실행 중입니다. API 설명은 <a href=\"/docs\">/docs</a>에, 엔진 상태는 <a "
    "href=\"/readyz\">/readyz</a>에 "
    "있습니다.</p></body></html>\n";

http::SharedBytes share(std::string text) {
  return std::make_shared<const std::string>(std::move(text));
}

Task<http::Response> serve_fixed(http::SharedBytes body, std::string_view content_type) {
  http::Response response{.status = 200, .headers = {}, .body = std::move(body)};
  response.headers.add("Content-Type", content_type);
  response.headers.add("Cache-Control", "no-cache");
  if (content_type.starts_with("text/html")) {
    response.headers.add("Content-Security-Policy", page_policy);
    response.headers.add("Referrer-Policy", "no-referrer");
    response.headers.add("X-Frame-Options", "DENY");
  }
  co_return response;
}

// The body may be made after the endpoint is added: it tells of all endpoints.
void add_fixed(Api& api, std::string pattern, std::string summary, std::string content_type,
               std::shared_ptr<http::SharedBytes> body) {
  Endpoint endpoint{.pattern = std::move(pattern), .tag = "system", .summary = std::move(summary)};
  const char* const schema = content_type == "application/json" ? R"({"type":"object"})" : R"({"type":"string"})";
  endpoint.answers = {{200, "The content.", schema, content_type.substr(0, content_type.find(';'))}};
  endpoint.options.compute_etag = true;
  endpoint.action = [body, content_type](const Call&) { return serve_fixed(*body, content_type); };
  api.add(std::move(endpoint));
}

}  // namespace

void add_docs_routes(Api& api, std::string version) {
  const auto document = std::make_shared<http::SharedBytes>();
  const auto page = std::make_shared<http::SharedBytes>();
  add_fixed(api, "/openapi.json", "The API as an OpenAPI document.", "application/json", document);
  add_fixed(api, "/docs", "The API as an HTML page.", "text/html; charset=utf-8", page);
  add_fixed(api, "/style.css", "The style sheet of the pages.", "text/css; charset=utf-8",
            std::make_shared<http::SharedBytes>(share(std::string(style))));
  add_fixed(api, "/", "The home page.", "text/html; charset=utf-8",
            std::make_shared<http::SharedBytes>(share(std::string(home))));
  *document = share(openapi_document(api, version));
  *page = share(docs_page(api, version));
}

}  // namespace sluice::api
