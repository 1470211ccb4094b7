// Text of clients as a terminal may show it.
//
// Names, keys and errors come from clients: a control character in them could move the cursor, change colors or forge
// lines of the output.
#pragma once

#include <string>
#include <string_view>

namespace sluice::server {

// `text` in one line, with control characters, line separators and changes of the writing direction as escapes such as
// \n and \u001b.
std::string printable(std::string_view text);

}  // namespace sluice::server
