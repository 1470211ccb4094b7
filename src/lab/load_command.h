// How every scenario of `sluice-lab load` is run and reported.
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

}  // namespace sluice::lab
