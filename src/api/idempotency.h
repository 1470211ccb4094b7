// Requests that may be sent again: a client that got no answer repeats them with the same Idempotency-Key.
#pragma once

#include <expected>
#include <optional>
#include <string>

#include "api/endpoint.h"
#include "base/json_reader.h"
#include "http/message.h"

namespace sluice::api {

extern const json::TextForm idempotency_key_form;

// The header as the document shows it.
Parameter idempotency_key_parameter();

// The client's Idempotency-Key, if the request has one, or the problem response if it is invalid.
std::expected<std::optional<std::string>, http::Response> idempotency_key(const http::Request& request);

}  // namespace sluice::api
