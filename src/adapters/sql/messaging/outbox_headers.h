// Headers of outbox rows, as they are kept: a JSON object.
#pragma once

#include "messaging/message.h"

namespace sluice::sql {

std::string to_json(const messaging::Headers& headers);
// Nothing where it is no JSON object of texts.
std::optional<messaging::Headers> headers_from_json(std::string_view text);

}  // namespace sluice::sql
