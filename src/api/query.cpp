#include "api/query.h"

#include <set>

#include "base/encoding.h"

namespace sluice::api {
namespace {

// Whether `text` can stand in JSON as it is: a number, true or false.
bool is_bare_json(std::string_view text) {
  const auto document = json::Document::parse(text);
  if (!document) return false;
  switch (document->root().kind()) {
    case json::Kind::boolean:
    case json::Kind::integer:
    case json::Kind::unsigned_integer:
    case json::Kind::number: return true;
    case json::Kind::null:
    case json::Kind::string:
    case json::Kind::array:
    case json::Kind::object: break;
  }
  return false;
}

}  // namespace

std::vector<Parameter> parameters_of(const json::Fields& fields) {
  std::vector<Parameter> parameters;
  for (const auto& field : fields) {
    std::string schema;
    json::Writer writer(schema);
    field->schema(writer, json::SchemaOf::query);
    parameters.push_back({field->name(), field->about(), std::move(schema), field->required()});
  }
  return parameters;
}

Result<std::string, json::DecodeError> query_as_json(const json::Fields& fields, const http::Request& request) {
  using Kind = json::DecodeError::Kind;
  std::string text;
  json::Writer writer(text);
  writer.begin_object();
  std::set<std::string_view> seen;
  const auto params = request.query_params();
  for (const auto& [name, value] : params) {
    const auto field = std::ranges::find(fields.all, name, [](const auto& known) { return known->name(); });
    if (field == fields.all.end()) continue;
    if (!seen.insert(name).second) return json::DecodeError{Kind::invalid, name, "must not be repeated"};
    if (value.contains('\0') || !is_utf8(value)) {
      return json::DecodeError{Kind::invalid, name, "must be UTF-8 text without NUL"};
    }
    writer.key(name);
    (*field)->is_bare() && is_bare_json(value) ? writer.raw(value) : writer.string(value);
  }
  writer.end_object();
  return text;
}

http::Response bad_query(const http::Request& request, const json::DecodeError& error) {
  json::DecodeError told = error;
  if (told.kind != json::DecodeError::Kind::missing) told.kind = json::DecodeError::Kind::invalid;
  if (told.path.empty()) told.path = "query";
  return undecodable(request, told);
}

http::Response bad_query(const http::Request& request, std::string_view name, std::string detail) {
  return undecodable(request, {json::DecodeError::Kind::invalid, std::string(name), std::move(detail)});
}

}  // namespace sluice::api
