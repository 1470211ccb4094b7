// librdkafka's statistics as our metrics.
#pragma once

#include <string_view>

namespace sluice::kafka {

// `json` as librdkafka tells it every few seconds, for each of its instances. From any thread.
void count_statistics(std::string_view json);

}  // namespace sluice::kafka
