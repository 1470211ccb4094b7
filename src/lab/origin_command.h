// `sluice-lab origin`: a simulated origin server to put documents in front of.
#pragma once

#include "runtime/command_line.h"

namespace sluice::lab {

// Its exit code: 0 after SIGTERM or SIGINT, 1 where it can't listen, 2 where it was asked wrongly.
Command origin_command();

}  // namespace sluice::lab
