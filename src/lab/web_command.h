// `sluice-lab web`: simulated web sites to enrich links from.
#pragma once

#include "runtime/command_line.h"

namespace sluice::lab {

// Its exit code: 0 after SIGTERM or SIGINT, 1 where it can't listen, 2 where it was asked wrongly.
Command web_command();

}  // namespace sluice::lab
