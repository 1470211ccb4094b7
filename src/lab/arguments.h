// Argument parsing shared by the commands of the laboratory.
#pragma once

#include <string>

#include "base/time.h"

namespace sluice::lab {

// Ends the command with exit code 2 and this sentence.
[[noreturn]] void wrong(const std::string& sentence);

// The duration `text` given for `option`; exits with an error if it is invalid.
Duration duration_of(const std::string& option, const std::string& text);

}  // namespace sluice::lab
