// Queries, decoded into structs that describe their parameters (base/json_object.h), so that /openapi.json shows
// exactly the rules that are checked.
//
//   struct JobsQuery {
//     std::optional<std::string> kind;
//     int64_t limit = default_page;
//     static void describe(json::Object<JobsQuery>& object) {
//       object.optional("kind", &JobsQuery::kind).length(1, 100).about("Only jobs of this kind.");
//       describe_limit(object);
//     }
//   };
//
// Unknown parameters are ignored; a known one that is there twice is refused. An empty value is a value.
#pragma once

#include <vector>

#include "api/endpoint.h"
#include "api/problems.h"

namespace sluice::api {

inline constexpr int64_t default_page = 50;
inline constexpr int64_t largest_page = 500;

// The parameter `limit` of lists.
template <class Query>
void describe_limit(json::Object<Query>& object) {
  object.optional("limit", &Query::limit).range(1, largest_page).about("Maximum number of items on a page.");
}

// The described fields as the document shows them.
std::vector<Parameter> parameters_of(const json::Fields& fields);
template <class Query>
std::vector<Parameter> query_parameters() {
  return parameters_of(json::Object<Query>::fields());
}

// The query's parameters of those names as one JSON object, or the one that is there twice or is not text.
Result<std::string, json::DecodeError> query_as_json(const json::Fields& fields, const http::Request& request);

// 422, or 400 where a parameter is missing; names the parameter.
http::Response bad_query(const http::Request& request, const json::DecodeError& error);
http::Response bad_query(const http::Request& request, std::string_view name, std::string detail);

// The request's query as a Query, or the decode error.
template <class Query>
Result<Query, json::DecodeError> read_query(const http::Request& request) {
  const auto text = query_as_json(json::Object<Query>::fields(), request);
  if (!text) return text.error();
  return json::decode<Query>(*text);
}
// The same, with the error as a problem response.
template <class Query>
std::expected<Query, http::Response> decode_query(const http::Request& request) {
  auto decoded = read_query<Query>(request);
  if (!decoded) return std::unexpected(bad_query(request, decoded.error()));
  return std::move(*decoded);
}

}  // namespace sluice::api
