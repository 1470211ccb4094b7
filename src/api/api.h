// The list of all endpoints, installed into a router.
#pragma once

#include <memory>
#include <vector>

#include "accounts/audit_log.h"
#include "accounts/caller.h"
#include "api/endpoint.h"
#include "http/server/router.h"

namespace sluice::api {

// Filled before the server starts, then unchanged; outlives the router.
class Api {
 public:
  // Both outlive it. `audit` gets an entry for each request that needs the role ADMIN, before it is acted on.
  Api(accounts::Callers& callers, accounts::AuditLog& audit) : callers_(callers), audit_(audit) {}

  void add(Endpoint endpoint);
  // Adds a route for every endpoint; called once, after the last `add`.
  void install(http::Router& router);

  const std::vector<std::unique_ptr<const Endpoint>>& endpoints() const { return endpoints_; }

 private:
  Task<http::Response> serve(const Endpoint& endpoint, http::Request& request);

  accounts::Callers& callers_;
  accounts::AuditLog& audit_;
  BodyReader bodies_;
  std::vector<std::unique_ptr<const Endpoint>> endpoints_;
};

}  // namespace sluice::api
