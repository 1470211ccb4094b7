// The commands of `sluice-lab`. Each exits with 2 if it was called wrongly.
#pragma once

#include "runtime/command_line.h"

namespace sluice::lab {

// `sluice-lab load`: puts load on a server and reports how it responded. Exits with 0, or 1 if too much failed.
Command load_command();

// `sluice-lab origin`: a simulated origin server for documents. Exits with 0 after SIGTERM or SIGINT, with 1 if it
// cannot listen.
Command origin_command();

// `sluice-lab web`: simulated web sites for the enrichment of links. Exits like `origin`.
Command web_command();

}  // namespace sluice::lab
