#include "api/document_routes.h"

#include <fmt/format.h>

#include "api/document_view.h"
#include "api/query.h"
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
    object.required("path", &DownloadRequest::path)
        .length(1, DocumentPath::longest)
        .form(documents::document_path_form)
        .about("Path relative to the origin, without a leading slash.");
    object.optional("caseType", &DownloadRequest::case_type).length(1, 100);
    object.optional("forceRefresh", &DownloadRequest::force_refresh).about("Download even if a good copy exists.");
  }
};

struct ReadQuery {
  bool fetch = true;

  static void describe(json::Object<ReadQuery>& object) {
    object.optional("fetch", &ReadQuery::fetch)
        .about("If false, a missing document gets 404 instead of being fetched.");
  }
};

struct LookUpQuery {
  std::string path;

  static void describe(json::Object<LookUpQuery>& object) {
    object.required("path", &LookUpQuery::path)
        .length(1, DocumentPath::longest)
        .form(documents::document_path_form)
        .about("Path of the document.");
  }
};

std::string origin_schema(const std::vector<std::string>& names) {
  if (names.empty()) return R"({"type":"string","minLength":1})";
  return fmt::format(R"({{"type":"string","enum":{}}})", json::encode(names));
}

http::Response bad_path(const http::Request& request) {
  http::Problem problem{400, "bad-path", "Invalid document path"};
  problem.detail = fmt::format(
      "A path must be relative, consist of [A-Za-z0-9._/-], have no empty, . or .. segments, and have at "
      "most {} characters.",
      DocumentPath::longest);
  problem.field = "path";
  return problem.to_response(request.request_id);
}

bool is_about_path(const json::DecodeError& error) {
  return error.path == "path" && error.kind == json::DecodeError::Kind::invalid;
}

http::Response unknown_origin(const http::Request& request) {
  return not_found(request, "The origin does not exist.");
}

http::Response refuse(const http::Request& request, const Refused& refused) {
  http::Problem problem{503, "document-unavailable", "The document cannot be fetched at the moment."};
  switch (refused.kind) {
    case Refusal::not_found: return not_found(request, "The document does not exist.");
    case Refusal::too_many:
      problem = {429, "too-many-unknown-documents", "Too many unknown documents are being requested."};
      break;
    case Refusal::unavailable:
      if (refused.reason != documents::Reason::database_unavailable) break;
      problem = {503, "database-unavailable", "The document database is unavailable."};
      break;
  }
  problem.detail = refused.reason ? enum_name(*refused.reason) : "";
  problem.retry_after = retry_after;
  http::Response response = problem.to_response(request.request_id);
  if (refused.reason) response.headers.set("Sluice-Degraded", enum_name(*refused.reason));
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
  // A cache subtracts the age from max-age (RFC 9111 4.2), so the time it may keep the copy is added to the age.
  const int64_t keep = (served.degraded ? Duration{retry_after} : downstream_age) / std::chrono::seconds(1);
  response.headers.add("Cache-Control", fmt::format("public, max-age={}", old + keep));
  response.headers.add("Sluice-Source", enum_name(served.source));
  if (served.degraded) response.headers.add("Sluice-Degraded", enum_name(*served.degraded));
  // The content comes from others: opened as a page, it runs nothing and loads nothing.
  response.headers.add("Content-Security-Policy", "default-src 'none'; sandbox");
  return response;
}

// The part of the JSON form that differs between readers of one copy.
std::string json_form(const Served& served, bool was_asked_for) {
  std::string_view how;
  if (was_asked_for) how = served.from_cache ? "cached" : "fetched";
  return fmt::format("json {} {} {}", enum_name(served.source), how,
                     served.degraded ? enum_name(*served.degraded) : "");
}

Documents::Form compressed(const documents::DocumentPtr& document, std::string form_name, http::SharedBytes body) {
  return {document, std::move(form_name), [body = std::move(body)] { return http::Gzip().compress(*body); }};
}

Task<http::Response> read_document(Documents& documents, const Clock& clock, http::Request& request) {
  const auto path = DocumentPath::parse(request.param("path"));
  if (!path) co_return bad_path(request);
  const std::string& origin = request.param("origin");
  if (!documents.knows(origin)) co_return unknown_origin(request);
  ReadQuery asked;
  if (!request.query.empty()) {
    auto query = decode_query<ReadQuery>(request);
    if (!query) co_return std::move(query.error());
    asked = *query;
  }
  const Lookup found = co_await documents.get(origin, *path, asked.fetch, request.deadline, request.traceparent);
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
                                bool was_asked_for) {
  const std::string origin = request.param("origin");
  const std::string form_name = json_form(served, was_asked_for);
  Documents::Form form{served.document, form_name, [origin, path, served, was_asked_for] {
                         return json::encode(DocumentView{origin, path.text(), &served, was_asked_for});
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
  const auto query = read_query<LookUpQuery>(request);
  if (!query) co_return is_about_path(query.error()) ? bad_path(request) : bad_query(request, query.error());
  const auto path = DocumentPath::parse(query->path);
  const std::string origin = request.param("origin");
  if (!documents.knows(origin)) co_return unknown_origin(request);
  const Lookup found = co_await documents.get(origin, *path, false, request.deadline);
  if (!found) co_return refuse(request, found.error());
  co_return co_await serve_json(documents, request, *path, *found, false);
}

Task<http::Response> download_document(Documents& documents, http::Request& request) {
  auto wanted = json::decode<DownloadRequest>(request.body);
  if (!wanted) co_return is_about_path(wanted.error()) ? bad_path(request) : undecodable(request, wanted.error());
  const auto path = DocumentPath::parse(wanted->path);
  const std::string origin = request.param("origin");
  if (!documents.knows(origin)) co_return unknown_origin(request);
  documents::RefreshRequest refresh{*path, std::move(wanted->case_type), wanted->force_refresh, request.traceparent};
  const Lookup found = co_await documents.refresh(origin, std::move(refresh), request.deadline);
  if (!found) co_return refuse(request, found.error());
  co_return co_await serve_json(documents, request, *path, *found, true);
}

}  // namespace

void add_document_routes(Api& api, Documents& documents, const Clock& clock) {
  const Parameter origin{"origin", "Name of a configured origin.", origin_schema(documents.names())};
  const Parameter path{
      "path",
      "Path of the document. Slashes are sent unescaped; a client that escapes them can only request paths "
      "of one segment.",
      fmt::format(R"({{"type":"string","minLength":1,"maxLength":{},"pattern":{}}})", DocumentPath::longest,
                  json::encode(std::string(documents::document_segment_form.pattern)))};
  const std::vector<Parameter> document_headers = {
      {"ETag", "Identifies the content.", R"({"type":"string"})", true},
      {"Age", "Seconds since the document was fetched.", R"({"type":"integer","minimum":0})", true},
      {"Cache-Control", "How long caches may keep the document.", R"({"type":"string"})", true},
      {"Sluice-Source", "The cache level that served the document.", json::output_schema<documents::Source>(), true},
      {"Sluice-Degraded", "Why the document could not be fetched; the response is an older copy.",
       json::output_schema<documents::Reason>()}};
  const ProblemAnswer unavailable{503, "document-unavailable",
                                  "The document has no copy and cannot be fetched at the moment."};
  const ProblemAnswer no_database{503, "database-unavailable", "The document database is unavailable."};
  const ProblemAnswer too_many{429, "too-many-unknown-documents", "Too many unknown documents are being requested."};
  const ProblemAnswer bad_path_answer{400, "bad-path", "The document path is invalid."};
  const ProblemAnswer unknown{404, "not-found", "The origin or document does not exist."};
  api.add({.pattern = "/api/v1/documents/{origin}/{path...}",
           .tag = "documents",
           .summary = "Returns a document from the nearest copy; a missing document is fetched.",
           .path = {origin, path},
           .query = query_parameters<ReadQuery>(),
           .answers = {{.status = 200,
                        .description = "The document.",
                        .schema = R"({"type":"string"})",
                        .content_type = "*/*",
                        .headers = document_headers},
                       {.status = 304, .description = "The client's copy is current.", .headers = document_headers}},
           .problems = {bad_path_answer, unknown, too_many, unavailable, no_database},
           .action = [&documents, &clock](const Call& call) { return read_document(documents, clock, call.request); }});
  api.add({.pattern = "/api/v1/documents/{origin}",
           .tag = "documents",
           .summary = "Returns a document as JSON if there is a copy; never fetches it.",
           .path = {origin},
           .query = query_parameters<LookUpQuery>(),
           .answers = {{200, "The copy.", json::output_schema<DocumentView>()}},
           .problems = {bad_path_answer, unknown, too_many, unavailable, no_database},
           .action = [&documents](const Call& call) { return look_document_up(documents, call.request); }});
  api.add({.method = http::Method::post,
           .pattern = "/api/v1/documents/{origin}",
           .tag = "documents",
           .summary = "Downloads a document if needed.",
           .role = accounts::Role::service,
           .path = {origin},
           .body_schema = json::schema<DownloadRequest>(),
           .answers = {{200, "The document.", json::output_schema<DocumentView>()}},
           .problems = {bad_path_answer, unknown, too_many, unavailable, no_database},
           .options = {.max_body = 16 << 10},
           .action = [&documents](const Call& call) { return download_document(documents, call.request); }});
}

}  // namespace sluice::api
