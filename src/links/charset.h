// The text of a page in any character set.
#pragma once

#include <string>
#include <string_view>

namespace sluice::links {

// `body` as UTF-8 without NUL bytes. The character set is declared by a byte order mark, the header or the page itself,
// in this order; UTF-8 or CP949 if the declared one is unknown or does not fit. Invalid bytes become U+FFFD. A body may
// end in the middle of a character.
std::string to_utf8(std::string_view body, std::string_view content_type);

}  // namespace sluice::links
