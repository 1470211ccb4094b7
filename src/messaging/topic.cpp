#include "messaging/topic.h"

#include <algorithm>

namespace sluice::messaging {

bool is_topic_name(std::string_view name) {
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' ||
           c == '-';
  };
  return !name.empty() && name.size() <= 200 && name != "." && name != ".." && std::ranges::all_of(name, fits);
}

}  // namespace sluice::messaging
