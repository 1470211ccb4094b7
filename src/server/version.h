// Which one this program is.
#pragma once

#include <string_view>

namespace sluice::server {

extern const std::string_view version;

}  // namespace sluice::server
