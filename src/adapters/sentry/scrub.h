// Removes sensitive data from a text: query strings and fragments, credentials in URLs, e-mail addresses, tokens and
// keys.
//
// It removes too much rather than too little. UUIDs stay: reports are searched by the ids of jobs and requests.
#pragma once

#include <string>
#include <string_view>

namespace sluice::sentry {

// "https://a.example/x?user=1 told bob@example.com" -> "https://a.example/x?[query] told [e-mail]"
std::string scrub(std::string_view text);

}  // namespace sluice::sentry
