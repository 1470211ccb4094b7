// How imports are read and how carefully other people's sites are visited: [links].
#pragma once

#include <string>

#include "base/size.h"
#include "base/time.h"
#include "http/client/client.h"
#include "links/imports_config.h"
#include "runtime/config_fwd.h"

namespace sluice::links {

struct LinksConfig {
  bool enrich = true;
  Duration timeout = 20s;
  Size read_bytes = kib(512);
  Size max_bytes = mib(16);
  int64_t max_redirects = 5;
  std::string user_agent = "SluiceBot/1.0";
  bool robots = true;
  Duration robots_for = std::chrono::days(1);
  bool allow_loopback = false;
  ImportsConfig imports{};

  static void describe(config::Section<LinksConfig>& section);
  void validate(config::Problems& problems) const;
};

// Options of the client that visits links: at most `at_once` requests to one domain.
http::ClientOptions client_options(const LinksConfig& config, size_t at_once);

}  // namespace sluice::links
