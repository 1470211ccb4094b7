// `sluice-lab load documents`: the crowd that opens the 39 sample documents.
//
// Users arrive in a ramp; each looks a document up, requests a download if there is no copy, and thinks 1 to 3 s. Here
// they are an open loop of the same arrival rate, half an arrival a second for each user, so that a stalled server
// still gets the full load. load/k6/documents.js is the same scenario with real users.
#pragma once

#include <string>

#include "lab/load_options.h"
#include "runtime/command_line.h"

namespace sluice::lab {

struct DocumentsCrowd {
  http::Url server;  // http://127.0.0.1:8080
  std::string origin = "scourt";
  std::string key;      // of role SERVICE; without it a miss stays a miss, and is a failure
  double users = 3000;  // at the peak
  double scale = 1;     // of the durations of all stages
};

// Six stages, 12 min 30 s in all unless scaled.
LoadOptions documents_load(const DocumentsCrowd& crowd);

Command documents_load_command();

}  // namespace sluice::lab
