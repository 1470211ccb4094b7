// Which pages of other origins may call us from a browser.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "http/message.h"

namespace sluice::http {

// Adds Access-Control-Allow-Origin where `origin` is one of `allowed`. No credentials: callers carry tokens, not
// cookies.
void allow_origin(const std::vector<std::string>& allowed, std::string_view origin, Headers& headers);

// Whether the request is a CORS preflight.
bool is_preflight(const Request& request);
void add_preflight(std::string_view methods, Headers& headers);

}  // namespace sluice::http
