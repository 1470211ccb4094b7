#include "lab/load_tally.h"

#include <numeric>

namespace sluice::lab {

std::string_view name(LoadFailure failure) {
  switch (failure) {
    case LoadFailure::connect: return "connect";
    case LoadFailure::closed: return "closed";
    case LoadFailure::bad_answer: return "bad-answer";
    case LoadFailure::timeout: return "timeout";
    case LoadFailure::unsent: return "unsent";
  }
  return "unknown";
}

void LoadTally::merge(const LoadTally& other) {
  intended += other.intended;
  started += other.started;
  for (size_t i = 0; i < statuses.size(); ++i) statuses[i] += other.statuses[i];
  for (const auto& [failure, count] : other.failures) failures[failure] += count;
  traffic.sent += other.traffic.sent;
  traffic.received += other.traffic.received;
  traffic.connections += other.traffic.connections;
  traffic.reconnects += other.traffic.reconnects;
  latency.merge(other.latency);
  service.merge(other.service);
  lag.merge(other.lag);
  late += other.late;
  backlog += other.backlog;
  misses += other.misses;
  for (const auto& [source, count] : other.sources) sources[source] += count;
  streams += other.streams;
  events += other.events;
  comments += other.comments;
  reopened += other.reopened;
  first_event.merge(other.first_event);
  gap.merge(other.gap);
}

uint64_t LoadTally::answers() const {
  return std::accumulate(statuses.begin(), statuses.end(), uint64_t{0});
}

uint64_t LoadTally::failed() const {
  uint64_t sum = 0;
  for (const auto& [failure, count] : failures) sum += count;
  return sum;
}

}  // namespace sluice::lab
