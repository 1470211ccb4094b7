#include "api/import_routes.h"

#include "api/idempotency.h"
#include "api/import_view.h"
#include "api/problems.h"
#include "http/problem.h"

namespace sluice::api {
namespace {

using flows::BookmarkImports;
using flows::ImportRefusal;
using links::BookmarkFault;
using links::Import;
using links::ImportId;
using links::OwnerId;

constexpr size_t largest_file = size_t{50} << 20;
// The body has its own limits for stalled uploads; this one is for a large file over a slow connection.
constexpr Duration longest_upload = 1h;
constexpr Duration come_back = 5s;

constexpr const char* one_import = "/api/v1/imports/{id:uuid}";
constexpr const char* cancel_one = "/api/v1/imports/{id:uuid}/cancel";

constexpr std::string_view file_schema =
    R"({"type":"string","contentMediaType":"text/html","minLength":1,)"
    R"("description":"Bookmarks exported by a browser: <!DOCTYPE NETSCAPE-Bookmark-file-1>, then nested <DL> lists."})";

std::string event_schema() {
  return fmt::format(R"({{"type":"object","required":["event","data"],"properties":{{)"
                     R"("event":{{"type":"string","enum":["PROGRESS","DONE"]}},)"
                     R"("data":{{"type":"string","contentMediaType":"application/json","contentSchema":{}}}}}}})",
                     json::output_schema<Import>());
}

OwnerId owner_of(const Call& call) {
  return OwnerId(call.caller->id.uuid());
}

ImportId id_of(const http::Request& request) {
  return ImportId::parse(request.param("id")).value();  // the route takes nothing else
}

http::Response no_such_import(const http::Request& request) {
  return not_found(request, "The import does not exist, or it belongs to another caller.");
}

http::Problem problem_of(const BookmarkFault& fault) {
  switch (fault.kind) {
    case BookmarkFault::Kind::binary:
      return {422, "binary-file", "The file is not text; nothing was imported", fault.text()};
    case BookmarkFault::Kind::not_bookmarks:
      return {422, "not-bookmarks", "The file has no exported bookmarks; nothing was imported", fault.text()};
    case BookmarkFault::Kind::malformed:
    case BookmarkFault::Kind::too_deep:
    case BookmarkFault::Kind::truncated: break;
  }
  return {422, "malformed-bookmarks", "The file is damaged; nothing was imported", fault.text()};
}

http::Problem problem_of(const ImportRefusal& refusal) {
  switch (refusal.kind) {
    case ImportRefusal::Kind::busy:
      return {.status = 503, .code = "overloaded", .title = "Too many files are being read", .retry_after = come_back};
    case ImportRefusal::Kind::too_many:
      return {.status = 429,
              .code = "too-many-imports",
              .title = "Too many files of the caller are being read",
              .retry_after = come_back};
    case ImportRefusal::Kind::key_in_use:
      return {.status = 409,
              .code = "idempotency-key-in-use",
              .title = "A request with this Idempotency-Key is still being handled",
              .retry_after = come_back};
    case ImportRefusal::Kind::key_reused:
      return {422, "idempotency-key-reused", "This Idempotency-Key was sent with another file; nothing was imported",
              "Repeat the original request, or choose another key."};
    case ImportRefusal::Kind::ended: break;
    case ImportRefusal::Kind::bad_file: return problem_of(refusal.fault.value());
  }
  return {409, "import-ended", "The import has ended",
          "The import was canceled while its file was being read, or the upload stalled."};
}

// A client that still sends would not read the answer.
Task<> read_to_end(http::BodySource& body) {
  try {
    bool more = true;
    while (more) {
      const std::optional<std::string> piece = co_await body.next();
      more = piece.has_value();
    }
  } catch (const std::exception&) {
    // The answer is known already, and errors in the rest do not change it.
  }
}

Task<http::Response> import_file(BookmarkImports& imports, http::Request& request, OwnerId owner) {
  auto key = idempotency_key(request);
  if (!key) co_return std::move(key.error());
  const Result<Import, ImportRefusal> outcome = co_await imports.import(owner, std::move(*key), *request.stream);
  const bool refused_at_once = !outcome && outcome.error().kind != ImportRefusal::Kind::bad_file;
  if (!refused_at_once) co_await read_to_end(*request.stream);
  if (!outcome) co_return problem_of(outcome.error()).to_response(request.request_id);
  http::Response response = http::Response::json(202, json::encode(*outcome));
  response.headers.set("Location", "/api/v1/imports/" + outcome->id.text());
  co_return response;
}

Task<http::Response> show_import(BookmarkImports& imports, http::Request& request, OwnerId owner) {
  const std::optional<Import> import = co_await imports.find(id_of(request), owner);
  if (!import) co_return no_such_import(request);
  co_return http::Response::json(200, json::encode(*import));
}

Task<http::Response> cancel_import(BookmarkImports& imports, http::Request& request, OwnerId owner) {
  const Result<Import, links::CancelRefused> outcome = co_await imports.cancel(id_of(request), owner);
  if (outcome) co_return http::Response::json(200, json::encode(*outcome));
  switch (outcome.error()) {
    case links::CancelRefused::unknown: co_return no_such_import(request);
    case links::CancelRefused::ended: break;
  }
  const http::Problem problem{409, "import-ended", "The import has ended", "The import has already ended."};
  co_return problem.to_response(request.request_id);
}

Task<http::Response> watch_import(BookmarkImports& imports, ImportStream& stream, http::Request& request,
                                  OwnerId owner) {
  const std::optional<Import> import = co_await imports.find(id_of(request), owner);
  if (!import) co_return no_such_import(request);
  co_return stream.open(request, *import);
}

using Serve = Task<http::Response> (*)(BookmarkImports&, http::Request&, OwnerId);

void add(Api& api, BookmarkImports& imports, Endpoint endpoint, Serve serve) {
  endpoint.role = accounts::Role::user;
  endpoint.action = [&imports, serve](const Call& call) { return serve(imports, call.request, owner_of(call)); };
  api.add(std::move(endpoint));
}

Endpoint upload() {
  return {
      .method = http::Method::post,
      .pattern = "/api/v1/imports",
      .tag = "imports",
      .summary =
          "Imports bookmarks exported by a browser (Netscape bookmark format, up to 50 MiB). With an "
          "Idempotency-Key a file is imported once: the same file again returns the existing import unless it "
          "failed; another file is refused.",
      .headers = {idempotency_key_parameter()},
      .body_schema = std::string(file_schema),
      .body_type = "text/html",
      .answers = {{.status = 202,
                   .description = "The file was read; its links are enriched in the background.",
                   .schema = json::output_schema<Import>(),
                   .headers = {{"Location", "URL of the import.", R"({"type":"string","format":"uri-reference"})",
                                true}},
                   .links = {{"import", http::Method::get, one_import, "id", "$response.body#/id"},
                             {"cancel", http::Method::post, cancel_one, "id", "$response.body#/id"}}}},
      .problems = {{409, "import-ended",
                    "The import was canceled while its file was being read, or the upload stalled."},
                   {409, "idempotency-key-in-use", "A request with this Idempotency-Key is still being handled."},
                   {422, "idempotency-key-reused", "This Idempotency-Key was sent with another file."},
                   {422, "binary-file", "The file is not text; nothing was imported."},
                   {422, "not-bookmarks", "The file does not start like exported bookmarks; nothing was imported."},
                   {422, "malformed-bookmarks", "The file is damaged; nothing was imported."},
                   {429, "too-many-imports", "Too many files of the caller are being read."}},
      .options = {
          .max_body = largest_file, .timeout = longest_upload, .streamed_body = true, .content_types = {"text/html"}}};
}

}  // namespace

void add_import_routes(Api& api, BookmarkImports& imports, ImportStream& stream) {
  const Answer found{200, "The import.", json::output_schema<Import>()};
  const ProblemAnswer unknown{404, "not-found", "The import does not exist, or it belongs to another caller."};
  add(api, imports, upload(), import_file);
  add(api, imports,
      {.pattern = one_import,
       .tag = "imports",
       .summary = "Returns the progress of an import. Items are bookmarks that lead to pages.",
       .answers = {found},
       .problems = {unknown}},
      show_import);
  add(api, imports,
      {.method = http::Method::post,
       .pattern = cancel_one,
       .tag = "imports",
       .summary = "Cancels the jobs of an import that have not started. Imported bookmarks stay.",
       .answers = {found},
       .problems = {unknown, {409, "import-ended", "The import has already ended."}},
       .options = {.timeout = 2min}},
      cancel_import);
  api.add({.pattern = "/api/v1/imports/{id:uuid}/events",
           .tag = "imports",
           .summary = "Streams server-sent events: PROGRESS at once and with every change, then DONE and the end. Each "
                      "event has the whole import.",
           .role = accounts::Role::user,
           .answers = {{.status = 200,
                        .description = "The stream; the schema is that of one event.",
                        .schema = event_schema(),
                        .content_type = "text/event-stream"}},
           .problems = {unknown},
           .action = [&imports, &stream](const Call& call) {
             return watch_import(imports, stream, call.request, owner_of(call));
           }});
}

}  // namespace sluice::api
