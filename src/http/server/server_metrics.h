// Metrics of the server; the cells of each route are looked up once.
#pragma once

#include <array>
#include <atomic>
#include <string>
#include <string_view>

#include "base/time.h"
#include "runtime/metrics.h"

namespace sluice::http {

// Safe to share between threads.
class RouteMetrics {
 public:
  RouteMetrics(std::string_view method, std::string_view label);

  void count(int status, Duration duration);

 private:
  std::string method_;
  std::string label_;
  metrics::HistogramCell& duration_;
  // Filled as statuses occur. Two threads may look the same one up; they find the same cell.
  std::array<std::atomic<metrics::CounterCell*>, 500> by_status_{};
};

metrics::GaugeCell& connections_gauge();
metrics::GaugeCell& in_flight_gauge();
metrics::GaugeCell& body_memory_gauge();
metrics::GaugeCell& sse_connections_gauge();
// Connections and requests rejected before any work was done.
void count_rejected(std::string_view reason);
// A failed attempt to accept; the client keeps waiting.
void count_accept_failure();

}  // namespace sluice::http
