// ETag and If-None-Match: avoids sending content that the client already has.
#pragma once

#include <string>
#include <string_view>

#include "http/message.h"

namespace sluice::http {

// A strong ETag of these bytes, quoted.
std::string etag_of(std::string_view bytes);

// Whether If-None-Match names this ETag (weak comparison, as RFC 9110 asks for), or is "*".
bool etag_matches(std::string_view if_none_match, std::string_view etag);

// Turns a 200 into a 304 without body if the client has its ETag.
void answer_condition(std::string_view if_none_match, Response& response);

}  // namespace sluice::http
