// Requests that may be sent again: a client that got no answer repeats them with the same Idempotency-Key.
#pragma once

#include <expected>
#include <optional>
#include <string>

#include "http/message.h"

namespace sluice::api {

// What the client calls the request, where it does; or the answer that says what is wrong with the name.
std::expected<std::optional<std::string>, http::Response> idempotency_key(const http::Request& request);

}  // namespace sluice::api
