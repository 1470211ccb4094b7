// Logs once that the brokers are unavailable, and once that they are available again.
#pragma once

#include "runtime/log.h"

namespace sluice::kafka {

// Belongs to one executor.
class Reachable {
 public:
  explicit Reachable(std::string_view who) : who_(who) {}

  void fails(std::string_view error) {
    if (!away_) log::warning("Kafka is unavailable or returns errors", {{"client", who_}, {"error", error}});
    away_ = true;
  }
  void works() {
    if (away_) log::info("Kafka is available again", {{"client", who_}});
    away_ = false;
  }

 private:
  const std::string_view who_;
  bool away_ = false;
};

}  // namespace sluice::kafka
