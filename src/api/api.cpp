#include "api/api.h"

#include <algorithm>

#include <fmt/format.h>

#include "api/problems.h"
#include "base/check.h"

namespace sluice::api {
namespace {

// The token of `Authorization: Bearer TOKEN`; nothing for any other scheme.
std::optional<std::string> bearer_token(const http::Request& request) {
  constexpr std::string_view scheme = "Bearer ";
  const std::string_view value = request.header("Authorization");
  if (value.size() <= scheme.size() || !http::equal_ignoring_case(value.substr(0, scheme.size()), scheme)) {
    return std::nullopt;
  }
  return std::string(value.substr(scheme.size()));
}

// The target as sent, in characters that every database accepts as text.
std::string printable(std::string_view target) {
  constexpr size_t longest = 500;
  std::string text(target.substr(0, longest));
  std::ranges::replace_if(text, [](char c) { return c <= ' ' || c > '~'; }, '?');
  return text;
}

accounts::AuditEntry audit_entry(const Endpoint& endpoint, const accounts::Caller& caller,
                                 const http::Request& request) {
  return {.actor = fmt::format("{} (key {})", caller.name, caller.id.text()),
          .action = fmt::format("{} {}", name(endpoint.method), endpoint.pattern),
          .target = printable(request.target),
          .address = request.client_address,
          .request_id = request.request_id};
}

}  // namespace

void Api::add(Endpoint endpoint) {
  check_that(static_cast<bool>(endpoint.action), "endpoint {} has no handler", endpoint.pattern);
  endpoints_.push_back(std::make_unique<const Endpoint>(std::move(endpoint)));
}

void Api::install(http::Router& router) {
  for (const auto& endpoint : endpoints_) {
    const Endpoint& serves = *endpoint;
    http::RouteOptions options = serves.options;
    // Strangers must not take the memory for bodies with those that no route asks for.
    options.decides_on_head = serves.role.has_value() || serves.body_schema.empty();
    router.add(
        serves.method, serves.pattern, [this, &serves](http::Request& request) { return serve(serves, request); },
        std::move(options));
  }
}

Task<http::Response> Api::serve(const Endpoint& endpoint, http::Request& request) {
  if (!endpoint.role) {
    Call call{request, std::nullopt, bodies_};
    co_return co_await endpoint.action(std::move(call));
  }
  std::optional<std::string> token = bearer_token(request);
  if (!token) co_return unauthenticated(request, "A token is required: Authorization: Bearer TOKEN.");
  std::optional<accounts::Caller> caller = co_await callers_.identify(std::move(*token));
  if (!caller) co_return unauthenticated(request, "The token is unknown, revoked or expired.");
  if (!caller->may_act_as(*endpoint.role)) {
    co_return forbidden(request, fmt::format("The role {} is required.", name(*endpoint.role)));
  }
  if (request.body_pending) co_await request.connection->receive_body();
  if (*endpoint.role == accounts::Role::admin) {
    accounts::AuditEntry entry = audit_entry(endpoint, *caller, request);
    co_await audit_.record(std::move(entry));
  }
  Call call{request, std::move(caller), bodies_};
  co_return co_await endpoint.action(std::move(call));
}

}  // namespace sluice::api
