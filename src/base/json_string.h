// Text as JSON writes it, for all that writes JSON: answers, problems and log lines.
#pragma once

#include <string>
#include <string_view>

namespace sluice::json {

// Appends `text` in quotes, escaped. Each byte that is not UTF-8 becomes U+FFFD, so the output is always valid JSON on
// one line. Plain text, the usual case, costs little more than a copy.
void append_string(std::string& out, std::string_view text);

}  // namespace sluice::json
