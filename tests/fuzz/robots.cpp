// Any robots.txt gives rules of a bounded size that answer any path in a bounded time, and never forbid robots.txt
// itself.
#include "base/check.h"
#include "links/robots_rules.h"
#include "tests/fuzz/as_long_as.h"

using namespace sluice;
using fuzz::as_long_as;
using fuzz::takes_at_most;
using links::RobotsRules;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  // The first line is the path that is asked for.
  const std::string_view path = text.substr(0, text.find('\n'));
  const RobotsRules rules = RobotsRules::parse(text, "SluiceBot/1.0");
  (void)rules.allows(path);
  if (size > 0 && size < 4096 && data[size - 1] % 32 == 0) {
    const std::string long_text = as_long_as(text, 64 * 1024);
    const std::string long_path = as_long_as(path, 4096);
    takes_at_most(1s, [&] { (void)RobotsRules::parse(long_text, "SluiceBot/1.0").allows(long_path); });
  }
  check(rules.allows("/robots.txt"), "robots.txt is allowed");
  check(rules.bytes() <= sizeof(rules) + 3 * size + RobotsRules::max_rules * 48, "rules are bounded");
  return 0;
}
