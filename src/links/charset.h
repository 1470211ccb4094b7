// The text of a page, whatever character set it was written in.
#pragma once

#include <string>
#include <string_view>

namespace sluice::links {

// `body` as UTF-8 without NUL bytes. The character set is what a byte order mark, the header, the page itself declares,
// in this order; UTF-8 or CP949 where that is no set we know or not what the page is written in. What can't be read
// becomes U+FFFD. A body may end in the middle of a character.
std::string to_utf8(std::string_view body, std::string_view content_type);

}  // namespace sluice::links
