// Options of `sluice-lab load`.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/time.h"
#include "http/message.h"
#include "http/url.h"
#include "lab/ramp.h"

namespace sluice::lab {

// Measuring is the lab's whole business, so it reads the machine's clock itself.
using SteadyClock = std::chrono::steady_clock;
using SteadyTime = SteadyClock::time_point;

struct LoadOptions {
  std::vector<http::Url> urls;
  http::Method method = http::Method::get;
  std::string body{};
  std::vector<std::pair<std::string, std::string>> headers{};
  std::optional<double>
      // requests a second, regardless of the answers; without it every connection sends continuously
      rate{};
  Ramp ramp{};                // in place of a rate that stays the same; `rate` is then its peak
  unsigned connections = 16;  // at most, of all threads together
  unsigned threads = 1;
  Duration duration = 10s;
  uint64_t requests = 0;       // 0: as many as the duration brings
  Duration timeout = 10s;      // for each request
  std::set<int> accept{};      // statuses from 400 up that are no failures
  bool connect_first = false;  // open every connection, then start together
  bool sse = false;            // hold event streams open instead
  bool allow_remote = false;   // else only this machine may be loaded
  Duration reconnect = 1s;     // how long after its end a stream is opened again
  // The request to send on the same connection after a 404 for a URL. Without it, 404 is the answer.
  std::function<std::string(const http::Url&)> follow_up{};
};

// The request for `url` as it goes over the wire.
std::string prepare_request(const LoadOptions& options, const http::Url& url);

}  // namespace sluice::lab
