// Filling the cache of an origin ahead of its readers.
//
// Uses the same machinery as a reader does: claims, slots, hold-downs and the breaker hold, so it may run beside any
// number of servers and never asks the origin for more than they may together.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "documents/documents.h"

namespace sluice::server {

struct PrewarmOrder {
  std::string origin;
  std::vector<documents::RefreshRequest> documents;
  size_t at_once = 1;
  // Others may fill the line to the origin; a place in it is asked for again within this time.
  Duration again_within = 5s;
  // No other reader asks for documents that this process downloads: it waits as long as a download may take.
  std::optional<Duration> wait_limit{};
};

struct PrewarmOutcome {
  size_t there_already = 0;
  size_t downloaded = 0;
  std::map<std::string, std::string> failed;  // by path: why

  size_t done() const { return there_already + downloaded + failed.size(); }
};

// Each line is a path, optionally followed by a space and its case type; empty lines and those with # are skipped. The
// error is the invalid line.
Result<std::vector<documents::RefreshRequest>, std::string> parse_prewarm_list(std::string_view text, bool force);

// On the executor of `documents`, which outlives it as clock and random do. `on_progress` is told after each document.
Task<PrewarmOutcome> prewarm(documents::Documents& documents, Clock& clock, Random& random, PrewarmOrder order,
                             std::function<void(const PrewarmOutcome&)> on_progress);

}  // namespace sluice::server
