// Topics, declared before they are used.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/time.h"

namespace sluice::messaging {

// `sluice migrate` creates missing topics and changes the retention of existing ones; the partitions of an existing
// topic never change, since keys would move and lose their order.
struct Topic {
  std::string name;
  int32_t partitions = 12;
  Duration retention = 7 * 24h;

  friend bool operator==(const Topic&, const Topic&) = default;
};

// 1 to 200 letters, digits, '.', '_' and '-', but not "." and "..": names that every engine accepts.
bool is_topic_name(std::string_view name);

}  // namespace sluice::messaging
