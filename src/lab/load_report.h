// The report of a load run: text for people, JSON for programs.
#pragma once

#include <string>

#include "lab/load_options.h"
#include "lab/load_run.h"

namespace sluice::lab {

// Failures and unwanted statuses among all requests that should have been made; 1 where none was.
double failure_ratio(const LoadOptions& options, const LoadTally& tally);

// Whether the generator itself was too slow for its figures to be believed: it was late although connections were free,
// or had no processor time left.
bool generator_overloaded(const LoadOptions& options, const LoadResult& result);

std::string text_report(const LoadOptions& options, const LoadResult& result);
std::string json_report(const LoadOptions& options, const LoadResult& result);

}  // namespace sluice::lab
