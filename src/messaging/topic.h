// Topics, declared before they are used.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/time.h"

namespace sluice::messaging {

// `sluice migrate` makes what is missing and changes the retention of what is there; partitions of a topic that exists
// are never changed, since keys would move and their order would be lost.
struct Topic {
  std::string name;
  int32_t partitions = 12;
  Duration retention = 7 * 24h;

  friend bool operator==(const Topic&, const Topic&) = default;
};

// Letters, digits, '.', '_' and '-', 1 to 200 of them, but not "." and "..": what every engine takes.
bool is_topic_name(std::string_view name);

}  // namespace sluice::messaging
