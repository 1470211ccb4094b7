// A share of the load on one thread: one origin, some of its connections and its part of the schedule.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>

#include "lab/arrivals.h"
#include "lab/load_tally.h"
#include "lab/wire.h"

namespace sluice::lab {

// Counts for the progress line, read from another thread while the load runs.
struct LiveCounts {
  std::atomic<uint64_t> answers = 0;  // or events
  std::atomic<uint64_t> failures = 0;
  std::atomic<uint64_t> backlog = 0;
};

struct ShareSetup {
  boost::asio::io_context& context;
  std::span<char> scratch;
  LoadTally& tally;
  LiveCounts& live;
  Wire::Endpoint endpoint;
  std::vector<std::string> requests;      // taken in rotation
  std::vector<std::string> follow_ups{};  // one for each request, or none: sent where it is answered 404
  bool head_requests = false;
  unsigned connections = 1;
  Duration timeout{};
  Duration duration{};  // of the schedule
};

// Belongs to the thread that runs its context.
class LoadShare {
 public:
  virtual ~LoadShare() = default;
  // Opens the connections ahead, so that the first requests do not pay for that; they need not all succeed.
  virtual void connect() {}
  // The schedule begins at `start`.
  virtual void start(SteadyTime start) = 0;
  // Called every few milliseconds: ends requests that take too long. False once everything has ended; not called again.
  virtual bool tick(SteadyTime now) = 0;
};

}  // namespace sluice::lab
