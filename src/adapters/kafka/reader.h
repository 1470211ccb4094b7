// Reading a partition without a group. Blocks; for threads that may wait (Instances::offload).
#pragma once

#include <mutex>
#include <string>
#include <vector>

#include "adapters/kafka/instances.h"
#include "messaging/message.h"

namespace sluice::kafka {

// Safe to use from any thread; one reads at a time.
class Reader {
 public:
  explicit Reader(Instances& instances) : instances_(instances) {}

  // Messages at or behind `from`, which the partition must have: at most `most`, fewer at its end. Throws
  // EngineUnavailable.
  std::vector<messaging::Delivery> read(const std::string& topic, int32_t partition, int64_t from, size_t most);

 private:
  Instances& instances_;
  std::mutex mutex_;
  Instance instance_;  // created by the first read
};

}  // namespace sluice::kafka
