// Any robots.txt gives rules of a bounded size that answer any path, and never forbid robots.txt itself.
#include "base/check.h"
#include "links/robots_rules.h"

using sluice::links::RobotsRules;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  // The first line is the path that is asked for.
  const std::string_view path = text.substr(0, text.find('\n'));
  const RobotsRules rules = RobotsRules::parse(text, "SluiceBot/1.0");
  (void)rules.allows(path);
  sluice::check(rules.allows("/robots.txt"), "robots.txt is allowed");
  sluice::check(rules.bytes() <= sizeof(rules) + 3 * size + RobotsRules::max_rules * 48, "rules are bounded");
  return 0;
}
