// Percent-escapes in one spelling, so that texts that mean the same compare equal.
#pragma once

#include <string>
#include <string_view>

namespace sluice::links {

// Characters that need no escape have none; those of `marks` stay as they are written; every other byte is escaped,
// with capital digits. A percent sign that begins no escape is escaped itself. Doing it again changes nothing.
std::string normalize_escapes(std::string_view text, std::string_view marks);

}  // namespace sluice::links
