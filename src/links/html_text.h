// Text as it comes out of HTML, made fit to be stored and shown.
#pragma once

#include <string>
#include <string_view>

namespace sluice::links {

// Numeric character references and the few named ones that bookmark exports and titles use; every other ampersand is
// kept.
std::string decode_references(std::string_view text);

// UTF-8 on one line: bytes that are not UTF-8 become U+FFFD, runs of blanks and controls one space, none at the ends.
// At most `most` bytes, cut between characters.
std::string tidy_text(std::string_view text, size_t most);

}  // namespace sluice::links
