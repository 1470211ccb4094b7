// How well the simulated origin behaves; changeable while it runs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/random.h"
#include "base/result.h"
#include "base/time.h"

namespace sluice::lab {

// The treatment of one request for a document.
enum class Fate {
  document,
  failure,    // 500
  html,       // 200 with an error page as text/html
  disguised,  // 200 with an error page as application/xml, well-formed
  stall,      // no answer, ever
  truncation  // half of the announced Content-Length, then closed
};

// Shares of the requests, 0 to 1 each and in all; the rest get their document.
struct OriginRates {
  double failure = 0;
  double html = 0;
  double disguised = 0;
  double stall = 0;
  double truncate = 0;
};

// The answer to a path that is no document.
enum class UnknownAnswer { not_found, failure, html };

struct OriginSettings {
  Duration latency{0};
  Duration jitter{0};  // the latency is even between latency - jitter and latency + jitter
  OriginRates rates{};
  size_t size = 0;  // documents are padded to this size
  UnknownAnswer unknown = UnknownAnswer::not_found;

  // One sentence where they make no sense.
  std::optional<std::string> fault() const;

  Fate draw_fate(Random& random) const;
  Duration draw_latency(Random& random) const;

  // {"latency": "500ms", "jitter": "0ms", "failureRate": 0.1, "htmlRate": 0, "disguisedRate": 0, "stallRate": 0,
  // "truncateRate": 0, "size": 0, "unknown": "404"}; unknown is 404, 500 or html
  std::string to_json() const;
  // These settings with the changes in `json`, or one sentence with the error.
  Result<OriginSettings, std::string> changed_by(std::string_view json) const;
};

}  // namespace sluice::lab
