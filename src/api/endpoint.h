// One route as the outside sees it: who may call it, what it takes, what it answers, and what it does.
//
// Described once: routing, authorization, /openapi.json and /docs all come from the same list, so none of them can tell
// another story.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "accounts/caller.h"
#include "http/message.h"
#include "http/router.h"

namespace sluice::api {

// A request whose caller was identified and may do this. The caller is there where the endpoint asks for a role.
struct Call {
  http::Request& request;
  std::optional<accounts::Caller> caller;
};
using Action = std::function<Task<http::Response>(Call)>;

struct QueryParameter {
  std::string name;
  std::string description;
  std::string schema = R"({"type":"string"})";
  bool required = false;
};

struct Answer {
  int status = 200;
  std::string description;
  std::string schema{};  // JSON Schema; empty where there is no body, or one that JSON cannot describe
  std::string content_type = "application/json";
};

struct Endpoint {
  http::Method method = http::Method::get;
  std::string pattern;  // as the router reads it: /api/v1/jobs/{id:uuid}
  std::string tag;      // the feature, for grouping
  std::string summary;
  std::optional<accounts::Role> role{};  // the least that is needed; none: anybody
  std::vector<QueryParameter> query{};
  std::string body_schema{};
  std::string body_type = "application/json";
  std::vector<Answer> answers{};
  http::RouteOptions options{};
  Action action{};
};

}  // namespace sluice::api
