// How a consumer works; the same for most of them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/retry.h"

namespace sluice::messaging {

struct ConsumerConfig {
  // Handlers at the same time, each with a message of another key.
  size_t handlers = 64;
  // Of one partition: unfinished messages at most, then nothing more is fetched of it.
  size_t in_work = 1'000;
  size_t in_work_bytes = size_t{32} << 20;
  // Of one partition: messages from the first unfinished one on, which are delivered again after a crash.
  size_t window = 50'000;
  size_t batch = 500;  // fetched at once

  int64_t tries = 3;
  Backoff retry{.first = 200ms, .factor = 4, .max = 30s};  // between tries of a message
  Backoff pause{.first = 200ms, .factor = 2, .max = 30s};  // while an engine is unavailable
  Duration handler_timeout = 30s;

  Duration commit_every = 1s;
  Duration drain = 10s;    // for messages in work when the consumer stops
  Duration session = 10s;  // how long a member may be silent before its partitions go to others
  Duration handover = 20s;

  static void describe(config::Section<ConsumerConfig>& section);
  void validate(config::Problems& problems) const;
};

// The group of a consumer and its topics.
struct ConsumerRole {
  std::string group;
  std::vector<std::string> topics;
  std::string worker;  // names this process in dead letters
  std::string dead_letter_topic = "dead-letters";
};

}  // namespace sluice::messaging
