// Asks sites for permission to visit (RFC 9309) and caches their answers.
#pragma once

#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "coordination/single_flight.h"
#include "http/client/client.h"
#include "links/link_failure.h"
#include "links/robots_rules.h"
#include "runtime/offload.h"

namespace sluice::links {

struct RobotsOptions {
  std::string user_agent = "SluiceBot/1.0";  // its product token selects the rules in a file
  Duration timeout = 10s;
  Duration keep = 24h;                  // a site's rules
  Duration keep_failure = 1min;         // that they could not be had
  size_t max_bytes = 16 * 1024 * 1024;  // of all rules kept; those not asked for the longest go first
};

// Belongs to the client's executor. Concurrent questions about a site share one request. Files are parsed on separate
// threads: a long one takes milliseconds.
class Robots {
 public:
  // `client`, `readers`, `clock` and `scope` outlive it; `scope` belongs to `executor`.
  Robots(http::Client& client, Offload& readers, Clock& clock, TaskScope& scope, Executor executor,
         RobotsOptions options);

  // Whether `url` may be fetched. A site without robots.txt (4xx) allows everything. If the site fails to serve the
  // file, the answer is unknown: a temporary failure. Throws Overloaded.
  Task<Result<bool, LinkFailure>> allow(http::Url url);

 private:
  using Said = Result<std::shared_ptr<const RobotsRules>, LinkFailure>;

  struct Kept {
    std::string origin;
    Said said;
    Instant until{};

    size_t bytes() const;
  };
  using ByUse = std::list<Kept>;  // most recently used first

  Task<Said> ask(http::Url url);
  const Said* find(const std::string& origin);
  void keep(std::string origin, Said said);
  void drop(ByUse::iterator kept);

  http::Client& client_;
  Offload& readers_;
  Clock& clock_;
  RobotsOptions options_;
  coordination::SingleFlight<Said> asking_;
  ByUse by_use_;
  std::unordered_map<std::string_view, ByUse::iterator> by_origin_;
  size_t bytes_ = 0;
};

}  // namespace sluice::links
