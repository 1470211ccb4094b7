#include "server/version.h"

namespace sluice::server {

const std::string_view version = SLUICE_VERSION;

}  // namespace sluice::server
