// Takes out of a text what must not leave the house: query strings and fragments, credentials in URLs, e-mail
// addresses, tokens and keys.
//
// It rather takes too much than too little. UUIDs stay: ids of jobs and requests are what a report is searched by.
#pragma once

#include <string>
#include <string_view>

namespace sluice::sentry {

// "https://a.example/x?user=1 told bob@example.com" -> "https://a.example/x?[query] told [e-mail]"
std::string scrub(std::string_view text);

}  // namespace sluice::sentry
