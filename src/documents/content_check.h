// Is this body the document, or an error page in its place?
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "documents/origin_config.h"

namespace sluice::documents {

// Nothing if the body is valid, else its fault in a few words.
std::optional<std::string> find_fault(const RequireConfig& require, std::string_view content_type,
                                      std::string_view body);

}  // namespace sluice::documents
