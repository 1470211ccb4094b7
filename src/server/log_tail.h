// The output of `sluice log tail`: a line of JSON for each message, so that it can be processed with jq.
//
// Only a page of each partition is in memory, however much is printed.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "messaging/log_view.h"
#include "runtime/clock.h"

namespace sluice::server {

struct TailSelection {
  std::string topic;
  std::string key{};            // empty: all
  std::optional<Time> since{};  // published then or later

  bool takes(const messaging::Delivery& delivery) const;
};

// `view` outlives it. One call at a time.
class LogTail {
 public:
  LogTail(messaging::LogView& view, TailSelection wanted, std::vector<messaging::PartitionBounds> partitions)
      : view_(view), wanted_(std::move(wanted)), partitions_(std::move(partitions)) {}

  // By time over all partitions, each partition in its own order.
  Task<> print_all();
  Task<> print_last(size_t count);
  // Later messages, until it is cancelled.
  Task<> follow(Clock& clock);

 private:
  struct Reading;

  Task<std::vector<messaging::Delivery>> read_page(int32_t partition, int64_t& from);
  Task<> read_more(Reading& reading);
  Task<std::deque<messaging::Delivery>> last_of(messaging::PartitionBounds bounds, size_t count);
  Task<std::deque<messaging::Delivery>> last_behind(messaging::PartitionBounds bounds, size_t count);

  messaging::LogView& view_;
  const TailSelection wanted_;
  std::vector<messaging::PartitionBounds> partitions_;
};

}  // namespace sluice::server
