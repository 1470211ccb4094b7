// Runs the load on its own threads and returns the results.
#pragma once

#include <functional>

#include "lab/load_options.h"
#include "lab/load_tally.h"
#include "lab/wire.h"

namespace sluice::lab {

struct LoadProgress {
  Duration elapsed;
  uint64_t answers;  // or events, so far
  uint64_t failures;
  uint64_t backlog;
};

struct LoadResult {
  LoadTally tally;
  Duration elapsed{};        // from the first intended start to the last answer
  Duration cpu{};            // spent by this process
  unsigned connections = 0;  // allowed in all
};

// The server behind some of the URLs.
struct LoadTarget {
  Wire::Endpoint endpoint;
  std::vector<http::Url> urls;
};

// Throws std::runtime_error with one sentence where a name leads nowhere, or off this machine without leave.
std::vector<LoadTarget> find_targets(const LoadOptions& options);

// `on_second` is called about every second, on the caller's thread.
LoadResult run_load(const LoadOptions& options, const std::vector<LoadTarget>& targets,
                    const std::function<void(const LoadProgress&)>& on_second);

}  // namespace sluice::lab
