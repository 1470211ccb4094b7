// How imports are read and watched: [links.imports].
#pragma once

#include "base/time.h"
#include "runtime/config_fwd.h"

namespace sluice::links {

struct ImportsConfig {
  int64_t at_once = 8;
  int64_t at_once_each = 2;
  Duration reading_limit = 5min;
  Duration settle_every = 1min;
  Duration look_every = 1s;
  Duration keep_ended = std::chrono::days(30);
  Duration keep_unused_links = std::chrono::days(30);

  static void describe(config::Section<ImportsConfig>& section);
};

}  // namespace sluice::links
