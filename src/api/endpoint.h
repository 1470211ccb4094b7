// One route as clients see it: required role, input, responses and action.
//
// Described once: routing, authorization, /openapi.json and /docs all come from the same list, so none of them can tell
// another story.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "accounts/caller.h"
#include "api/body_reader.h"
#include "http/message.h"
#include "http/server/router.h"

namespace sluice::api {

// A request whose caller was identified and authorized. `caller` is set if the endpoint requires a role.
struct Call {
  http::Request& request;
  std::optional<accounts::Caller> caller;
  BodyReader& bodies;
};
using Action = std::function<Task<http::Response>(Call)>;

// A parameter in the path, the query or a header. Query parameters are described by the struct they are decoded into
// (api/query.h).
struct Parameter {
  std::string name;
  std::string description;
  std::string schema = R"({"type":"string"})";
  bool required = false;
};

// Where a client can go on from an answer: the parameter of another endpoint that a value of the answer is good for.
struct Link {
  std::string name;
  http::Method method = http::Method::get;
  std::string pattern;    // of that endpoint
  std::string parameter;  // of its path
  std::string value;      // an OpenAPI runtime expression: $response.body#/id
};

struct Answer {
  int status = 200;
  std::string description;
  std::string schema{};  // JSON Schema; empty where there is no body, or one that JSON cannot describe
  std::string content_type = "application/json";
  std::vector<Parameter> headers{};
  std::vector<Link> links{};
};

// A problem that this endpoint answers. Those that every endpoint shares are added by the document (api/openapi.cpp).
struct ProblemAnswer {
  int status;
  std::string code;
  std::string description;
};

struct Endpoint {
  http::Method method = http::Method::get;
  std::string pattern;  // as the router reads it: /api/v1/jobs/{id:uuid}
  std::string tag;      // the feature, for grouping
  std::string summary;
  std::optional<accounts::Role> role{};  // the lowest role allowed; none: public
  std::vector<Parameter> path{};         // of those in the pattern, the ones that need more words than their type
  std::vector<Parameter> query{};
  std::vector<Parameter> headers{};
  std::string body_schema{};
  std::string body_type = "application/json";
  std::vector<Answer> answers{};
  std::vector<ProblemAnswer> problems{};
  http::RouteOptions options{};
  Action action{};
};

}  // namespace sluice::api
