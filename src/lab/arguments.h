// What the commands of the laboratory share in understanding their arguments.
#pragma once

#include <string>

#include "base/time.h"

namespace sluice::lab {

// Ends the command with exit code 2 and this sentence.
[[noreturn]] void wrong(const std::string& sentence);

// What `text`, given for `option`, means; ends the command where it is no duration.
Duration duration_of(const std::string& option, const std::string& text);

}  // namespace sluice::lab
