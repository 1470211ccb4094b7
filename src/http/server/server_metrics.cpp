#include "http/server/server_metrics.h"

#include "base/check.h"

namespace sluice::http {
namespace {

const metrics::Counter requests{"http_requests_total", "Requests completed.", {"method", "route", "status"}};
const metrics::Histogram durations{"http_request_duration_seconds",
                                   "Time from the end of a request's head to the last byte of its response.",
                                   {"route"}};
const metrics::Gauge connections{"http_connections", "Open connections."};
const metrics::Gauge in_flight{"http_requests_in_flight", "Requests being handled."};
const metrics::Gauge body_memory{"http_body_memory_bytes",
                                 "Memory used by request bodies; the limit is http.body_memory."};
const metrics::Gauge sse_connections{"sse_connections", "Open event streams."};
const metrics::Counter rejected{
    "http_rejected_total", "Connections and requests rejected before any work was done.", {"reason"}};
const metrics::Counter accept_failures{
    "http_accept_failures_total",
    "Failed attempts to accept a connection, usually because of the limit on open files."};

}  // namespace

RouteMetrics::RouteMetrics(std::string_view method, std::string_view label)
    : method_(method), label_(label), duration_(durations.with({label})) {}

void RouteMetrics::count(int status, Duration duration) {
  check_that(status >= 100 && status < 600, "status {}", status);
  std::atomic<metrics::CounterCell*>& slot = by_status_[static_cast<size_t>(status) - 100];
  metrics::CounterCell* cell = slot.load(std::memory_order_acquire);
  if (cell == nullptr) {
    cell = &requests.with({method_, label_, std::to_string(status)});
    slot.store(cell, std::memory_order_release);
  }
  cell->add();
  duration_.observe(std::chrono::duration<double>(duration).count());
}

metrics::GaugeCell& connections_gauge() {
  static metrics::GaugeCell& cell = connections.with({});
  return cell;
}

metrics::GaugeCell& in_flight_gauge() {
  static metrics::GaugeCell& cell = in_flight.with({});
  return cell;
}

metrics::GaugeCell& body_memory_gauge() {
  static metrics::GaugeCell& cell = body_memory.with({});
  return cell;
}

metrics::GaugeCell& sse_connections_gauge() {
  static metrics::GaugeCell& cell = sse_connections.with({});
  return cell;
}

void count_rejected(std::string_view reason) {
  rejected.with({reason}).add();
}

void count_accept_failure() {
  accept_failures.add();
}

}  // namespace sluice::http
