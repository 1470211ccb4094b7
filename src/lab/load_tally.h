// The counts of one thread of the load generator; merged at the end.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "lab/histogram.h"

namespace sluice::lab {

enum class LoadFailure { connect, closed, bad_answer, timeout, unsent };
inline constexpr std::array load_failures{LoadFailure::connect, LoadFailure::closed, LoadFailure::bad_answer,
                                          LoadFailure::timeout, LoadFailure::unsent};
std::string_view name(LoadFailure failure);

struct Traffic {
  uint64_t sent = 0;
  uint64_t received = 0;
  uint64_t connections = 0;  // made
  uint64_t reconnects = 0;   // because a kept one had been closed
};

struct LoadTally {
  uint64_t intended = 0;  // requests that should have started
  uint64_t started = 0;
  std::array<uint64_t, 600> statuses{};
  std::map<LoadFailure, uint64_t> failures;
  Traffic traffic;
  Histogram latency;     // from the intended start; requests given up or never sent count as long as they waited
  Histogram service;     // from the actual start, answers only
  Histogram lag;         // how late a request started although a connection was free: the generator's own fault
  uint64_t late = 0;     // started over 1 ms late, for any reason
  uint64_t backlog = 0;  // the most that were due and not started at once

  // Documents, where requests have a follow-up.
  uint64_t misses = 0;                      // lookups that were answered 404 and followed up
  std::map<std::string, uint64_t> sources;  // which level answered, as the answer says

  // Event streams.
  uint64_t streams = 0;  // opened
  uint64_t events = 0;
  uint64_t comments = 0;  // heartbeats
  uint64_t reopened = 0;
  Histogram first_event;  // from asking for the stream
  Histogram gap;          // between events of a stream

  void merge(const LoadTally& other);
  uint64_t answers() const;
  uint64_t failed() const;  // without an answer
};

}  // namespace sluice::lab
