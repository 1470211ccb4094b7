// What this program is called and which one it is.
#pragma once

#include <string_view>

namespace sluice::server {

inline constexpr std::string_view version = SLUICE_VERSION;

}  // namespace sluice::server
