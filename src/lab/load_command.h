// `sluice-lab load`: puts a known load on a server and tells honestly how it took it.
#pragma once

#include <vector>

#include "runtime/command_line.h"

namespace sluice::lab {

struct LoadOptions;

// How a run is told, the same for every scenario.
struct LoadReporting {
  double max_failures = 0;  // the share that may fail
  bool json = false;
  bool progress = false;
};
std::vector<CommandOption> reporting_options(LoadReporting& reporting);

// Puts the load on, prints the report and returns the exit code. Throws UsageError where a URL leads nowhere.
int run_and_report(const LoadOptions& options, const LoadReporting& reporting);

// Its exit code: 0, 1 where too much failed, 2 where it was asked wrongly.
Command load_command();

}  // namespace sluice::lab
