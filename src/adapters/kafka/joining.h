// Whether a consumer is between two generations of its group, where nothing can be committed.
//
// Joining is answered once every member has joined, and a broker answers the requests of a connection one by one. So a
// commit sent behind it waits for the others too, and is then refused: it names the generation that has ended.
// librdkafka before 2.10 takes that for the end of the new one and loses all partitions. So commits wait until joining
// is over.
//
// librdkafka tells of it only by the requests it sends. A commit may still slip in just before we hear of one; then it
// is refused (commits.h).
#pragma once

#include <atomic>

#include "adapters/kafka/handles.h"

namespace sluice::kafka {

// Safe to use from any thread.
class Joining {
 public:
  Joining() = default;
  Joining(const Joining&) = delete;
  Joining& operator=(const Joining&) = delete;

  // Follows the instance that will be made of `conf`, which it must outlive.
  void follow(const Conf& conf);

  bool under_way() const { return under_way_; }
  // It is about to join again.
  void expect() { under_way_ = true; }

 private:
  static rd_kafka_interceptor_f_on_new_t on_new;
  static rd_kafka_interceptor_f_on_request_sent_t on_request_sent;

  std::atomic<bool> under_way_ = false;
};

}  // namespace sluice::kafka
