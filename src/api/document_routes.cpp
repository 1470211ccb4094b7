#include "api/document_routes.h"

#include <fmt/format.h>

#include "api/problems.h"
#include "base/json.h"
#include "http/gzip.h"
#include "http/problem.h"

namespace sluice::api {
namespace {

using documents::DocumentPath;
using documents::Documents;
using documents::Lookup;
using documents::Refusal;
using documents::Refused;
using documents::Served;

constexpr Duration retry_after = 5s;
// How long a CDN or a browser may keep a document; copies there may lag behind a refresh by this much.
constexpr Duration downstream_age = 60s;

struct DownloadRequest {
  std::string path;
  std::optional<std::string> case_type;
  bool force_refresh = false;

  static void describe(json::Object<DownloadRequest>& object) {
    object.required("path", &DownloadRequest::path).about("Relative to the origin, without a leading slash.");
    object.optional("caseType", &DownloadRequest::case_type).length(1, 100);
    object.optional("forceRefresh", &DownloadRequest::force_refresh).about("Download also where a good copy exists.");
  }
};

constexpr std::string_view document_schema =
    R"({"type":"object","required":["origin","path","content","source","cachedAt"],"properties":{)"
    R"("origin":{"type":"string"},"path":{"type":"string"},"content":{"type":"string"},)"
    R"("caseType":{"type":["string","null"]},"source":{"enum":["memory","static","database","origin","stale"]},)"
    R"("cachedAt":{"type":"string","format":"date-time"},"fromCache":{"type":"boolean"},)"
    R"("degraded":{"type":"boolean"},"reason":{"type":"string"}}})";

http::Response bad_path(const http::Request& request) {
  http::Problem problem{400, "bad-path", "The path of a document is not valid"};
  problem.detail =
      fmt::format("A path is relative, of [A-Za-z0-9._/-], without empty, . or .. segments, at most {} characters.",
                  DocumentPath::longest);
  problem.field = "path";
  return problem.to_response(request.request_id);
}

http::Response unknown_origin(const http::Request& request) {
  return not_found(request, "There is no such origin.");
}

http::Response refuse(const http::Request& request, const Refused& refused) {
  http::Problem problem{503, "document-unavailable", "The document cannot be fetched now."};
  switch (refused.kind) {
    case Refusal::not_found: return not_found(request, "There is no such document.");
    case Refusal::too_many:
      problem = {429, "too-many-unknown-documents", "Too many unknown documents are being requested."};
      break;
    case Refusal::unavailable:
      if (refused.reason != documents::Reason::database_unavailable) break;
      problem = {503, "database-unavailable", "The database of documents is unavailable."};
      break;
  }
  problem.detail = refused.reason ? name(*refused.reason) : "";
  problem.retry_after = retry_after;
  http::Response response = problem.to_response(request.request_id);
  if (refused.reason) response.headers.set("Sluice-Degraded", name(*refused.reason));
  return response;
}

// The document's own bytes, shared with every other reader.
http::Response serve_body(const Clock& clock, const Served& served) {
  http::Response response;
  response.body = http::SharedBytes(served.document, &served.document->body);
  const auto age = std::chrono::floor<std::chrono::seconds>(clock.wall() - served.document->fetched_at);
  response.headers.add("Content-Type", served.document->content_type);
  response.headers.add("ETag", served.document->etag);
  const int64_t old = std::max<int64_t>(0, age.count());
  response.headers.add("Age", std::to_string(old));
  // A cache counts the age against max-age (RFC 9111 4.2), so what it may keep comes on top of it.
  const int64_t keep = (served.degraded ? Duration{retry_after} : downstream_age) / std::chrono::seconds(1);
  response.headers.add("Cache-Control", fmt::format("public, max-age={}", old + keep));
  response.headers.add("Sluice-Source", name(served.source));
  if (served.degraded) response.headers.add("Sluice-Degraded", name(*served.degraded));
  // Somebody else's content under our name: opened as a page, it runs nothing and loads nothing.
  response.headers.add("Content-Security-Policy", "default-src 'none'; sandbox");
  return response;
}

std::string to_json(const std::string& origin, const DocumentPath& path, const Served& served, bool with_from_cache) {
  std::string body;
  json::Writer writer(body);
  writer.begin_object().field("origin", origin).field("path", path.text()).field("content", served.document->body);
  writer.field("caseType", served.document->case_type).field("source", name(served.source));
  writer.field("cachedAt", served.document->fetched_at);
  if (with_from_cache) writer.field("fromCache", served.from_cache);
  if (served.degraded) writer.field("degraded", true).field("reason", name(*served.degraded));
  writer.end_object();
  return body;
}

// What of the JSON form differs between readers of one copy.
std::string json_form(const Served& served, bool with_from_cache) {
  std::string_view how;
  if (with_from_cache) how = served.from_cache ? "cached" : "fetched";
  return fmt::format("json {} {} {}", name(served.source), how, served.degraded ? name(*served.degraded) : "");
}

Documents::Form compressed(const documents::DocumentPtr& document, std::string form_name, http::SharedBytes body) {
  return {document, std::move(form_name), [body = std::move(body)] { return http::Gzip().compress(*body); }};
}

Task<http::Response> read_document(Documents& documents, const Clock& clock, http::Request& request) {
  const auto path = DocumentPath::parse(request.param("path"));
  if (!path) co_return bad_path(request);
  const std::string& origin = request.param("origin");
  if (!documents.knows(origin)) co_return unknown_origin(request);
  const bool fetch = request.query.empty() || request.query_param("fetch").value_or("true") != "false";
  const Lookup found = co_await documents.get(origin, *path, fetch, request.deadline, request.traceparent);
  if (!found) co_return refuse(request, found.error());
  http::Response response = serve_body(clock, *found);
  if (http::is_compressible(found->document->content_type) && http::accepts_gzip(request.header("Accept-Encoding"))) {
    const http::SharedBytes body(found->document, &found->document->body);
    Documents::Form form = compressed(found->document, "gzip", body);
    response.gzip = co_await documents.form(origin, *path, std::move(form));
  }
  co_return response;
}

// The JSON form is made once for all readers of a copy that came the same way.
Task<http::Response> serve_json(Documents& documents, const http::Request& request, DocumentPath path, Served served,
                                bool with_from_cache) {
  const std::string origin = request.param("origin");
  const std::string form_name = json_form(served, with_from_cache);
  Documents::Form form{served.document, form_name, [origin, path, served, with_from_cache] {
                         return to_json(origin, path, served, with_from_cache);
                       }};
  http::Response response;
  response.headers.add("Content-Type", "application/json");
  const http::SharedBytes body = co_await documents.form(origin, path, std::move(form));
  response.body = body;
  if (http::accepts_gzip(request.header("Accept-Encoding"))) {
    Documents::Form gzip = compressed(served.document, form_name + " gzip", body);
    response.gzip = co_await documents.form(origin, path, std::move(gzip));
  }
  co_return response;
}

Task<http::Response> look_document_up(Documents& documents, http::Request& request) {
  const auto path = DocumentPath::parse(request.query_param("path").value_or(""));
  if (!path) co_return bad_path(request);
  const std::string origin = request.param("origin");
  if (!documents.knows(origin)) co_return unknown_origin(request);
  const Lookup found = co_await documents.get(origin, *path, false, request.deadline);
  if (!found) co_return refuse(request, found.error());
  co_return co_await serve_json(documents, request, *path, *found, false);
}

Task<http::Response> download_document(Documents& documents, http::Request& request) {
  auto wanted = decode_body<DownloadRequest>(request);
  if (!wanted) co_return std::move(wanted.error());
  const auto path = DocumentPath::parse(wanted->path);
  if (!path) co_return bad_path(request);
  const std::string origin = request.param("origin");
  if (!documents.knows(origin)) co_return unknown_origin(request);
  documents::RefreshRequest refresh{*path, std::move(wanted->case_type), wanted->force_refresh, request.traceparent};
  const Lookup found = co_await documents.refresh(origin, std::move(refresh), request.deadline);
  if (!found) co_return refuse(request, found.error());
  co_return co_await serve_json(documents, request, *path, *found, true);
}

}  // namespace

void add_document_routes(Api& api, Documents& documents, const Clock& clock) {
  api.add({.pattern = "/api/v1/documents/{origin}/{path...}",
           .tag = "documents",
           .summary = "A document itself, from the nearest copy; a missing one is fetched.",
           .query = {{"fetch", "false answers 404 where there is no copy, instead of fetching.",
                      R"({"type":"boolean","default":true})"}},
           .answers = {{200,
                        "The document. Sluice-Source says which level answered, Sluice-Degraded why it could not be "
                        "fetched.",
                        R"({"type":"string"})", "*/*"},
                       {304, "The client's copy is current."},
                       {404, "No such origin or document."},
                       {429, "Too many unknown documents are being requested."},
                       {503, "It cannot be fetched now."}},
           .action = [&documents, &clock](const Call& call) { return read_document(documents, clock, call.request); }});
  api.add({.pattern = "/api/v1/documents/{origin}",
           .tag = "documents",
           .summary = "A document as JSON, if there is a copy; never fetches.",
           .query = {{"path", "The document's path.", R"({"type":"string","maxLength":512})", true}},
           .answers = {{200, "The copy.", std::string(document_schema)}, {404, "There is none."}},
           .action = [&documents](const Call& call) { return look_document_up(documents, call.request); }});
  api.add({.method = http::Method::post,
           .pattern = "/api/v1/documents/{origin}",
           .tag = "documents",
           .summary = "Downloads a document if it is needed.",
           .role = accounts::Role::service,
           .body_schema = json::schema<DownloadRequest>(),
           .answers = {{200, "The document.", std::string(document_schema)},
                       {404, "No such origin or document."},
                       {429, "Too many unknown documents are being requested."},
                       {503, "It cannot be fetched now."}},
           .options = {.max_body = 16 << 10},
           .action = [&documents](const Call& call) { return download_document(documents, call.request); }});
}

}  // namespace sluice::api
