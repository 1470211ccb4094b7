// Ids that follow from what they identify, so that nobody has to ask the database for them.
#pragma once

#include <string_view>

#include "base/id.h"

namespace sluice {

// The same for the same text, wherever it is computed; different texts have different ids (SHA-256).
Uuid hashed_uuid(std::string_view text);

}  // namespace sluice
