// Names for requests, so that one can be followed through logs and services.
#pragma once

#include <string>
#include <string_view>

#include "base/random.h"

namespace sluice::http {

// X-Request-Id as we take it over: 1 to 128 of [A-Za-z0-9._-].
bool is_request_id(std::string_view text);

// W3C traceparent, version 00: "00-<32 hex>-<16 hex>-<2 hex>", neither id all zeros.
bool is_traceparent(std::string_view text);

// Keeps valid ids and generates the others. A generated request id is the trace's id.
void name_request(std::string_view given_id, std::string_view given_trace, Random& random, std::string& request_id,
                  std::string& traceparent);

}  // namespace sluice::http
