// Limits on requests to an origin: few at once, not too often, and no wait that cannot succeed.
//
// At most `max_concurrent` requests are open at the origin over all instances (leased slots), and no more begin within
// any second than the origin's limit allows (its permits). Failures shrink the number of slots this instance uses down
// to one, successes grow it back. Waiting is first come, first served; a caller that would wait longer than `slot_wait`
// is refused at once.
//
// Each lane has a gate. Strangers share the last slot with known documents and get no other; a lane of known documents
// that has shrunk leaves that slot alone, so strangers cannot hold the one it still uses. Where it is the
// only one, strangers leave it free for a moment between two visits, so that a crowd of them cannot keep known
// documents out.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "base/random.h"
#include "coordination/shared_limit.h"
#include "coordination/slots.h"
#include "documents/origin_config.h"
#include "runtime/clock.h"
#include "runtime/wakeup.h"

namespace sluice::documents {

struct GateConfig {
  std::string origin;
  Lane lane = Lane::known;
  int64_t max_concurrent = 3;
  Duration slot_wait = 5s;
  Duration slot_ttl = 15s;  // longer than any request can take
};

// Belongs to one executor.
class OriginGate {
 public:
  // Slots, limit, clock and random outlive it.
  OriginGate(GateConfig config, coordination::Slots& slots, coordination::SharedLimit& limit, Clock& clock,
             Random& random, std::string owner, const Executor& executor);

  // A slot, when it is this caller's turn; nothing where the wait is or would be too long.
  Task<std::optional<coordination::Slot>> enter();
  // Gives the slot back and learns from how it went.
  Task<> leave(coordination::Slot slot, bool success, Duration took);
  // Gives it back after a request that was broken off, which says nothing about the origin.
  Task<> give_up(coordination::Slot slot);

  // Whether the line is so long that `enter` refuses at once.
  bool is_full() const;
  size_t waiting() const { return line_.size(); }
  // Three steps of a third make a whole.
  int64_t limit() const { return static_cast<int64_t>(limit_ + 1e-9); }

 private:
  struct Waiting {
    explicit Waiting(const Executor& executor) : moved(executor) {}
    Wakeup moved;
  };

  // How many slots are not shared with strangers.
  int64_t own_slots() const { return config_.lane == Lane::known ? config_.max_concurrent - 1 : 0; }
  double most() const { return static_cast<double>(own_slots() + 1); }
  Task<std::optional<coordination::Slot>> take_slot();
  Task<std::optional<coordination::Slot>> wait_in_front(Instant until);
  Task<bool> keep_to_rate(coordination::Slot slot, Instant until);

  GateConfig config_;
  coordination::Slots& slots_;
  coordination::SharedLimit& rate_;
  Clock& clock_;
  Random& random_;
  std::string owner_;
  Executor executor_;
  std::deque<std::shared_ptr<Waiting>> line_;
  Wakeup given_back_;
  Instant last_left_ = Instant::min();  // when a slot was given back
  double limit_;
  Duration mean_time_{0};
};

}  // namespace sluice::documents
