// `sluice-lab load`: puts a known load on a server and tells honestly how it took it.
#pragma once

namespace CLI {
class App;
}

namespace sluice::lab {

struct LoadOptions;

// How a run is told, the same for every scenario.
struct LoadReporting {
  double max_failures = 0;  // the share that may fail
  bool json = false;
  bool progress = false;
};
void add_reporting(CLI::App& command, LoadReporting& reporting);

// Puts the load on, prints the report and returns the exit code. Throws CLI::ValidationError where a URL leads nowhere.
int run_and_report(const LoadOptions& options, const LoadReporting& reporting);

// Adds the command; running it sets `exit_code`: 0, 1 where too much failed, 2 where it was asked wrongly.
void add_load_command(CLI::App& app, int& exit_code);

}  // namespace sluice::lab
