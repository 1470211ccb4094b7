// The OpenAPI 3.1 document and the page made from it, written from the list of endpoints.
#pragma once

#include <string>

#include "api/api.h"

namespace sluice::api {

// JSON, complete: every endpoint with its parameters, roles, bodies, answers and the shape of problems.
std::string openapi_document(const Api& api, const std::string& version);

// The same for people: one static HTML page, without scripts.
std::string docs_page(const Api& api, const std::string& version);

// "/api/v1/jobs/{id:uuid}" as OpenAPI writes it: "/api/v1/jobs/{id}".
std::string openapi_path(std::string_view pattern);

}  // namespace sluice::api
