// Assigns a throttle key's slots: the decision alone, from rows read under the key's lock.
#pragma once

#include <compare>
#include <cstdint>
#include <set>
#include <vector>

#include "jobs/job.h"

namespace sluice::jobs {

struct SlotHolder {
  JobId id;
  int64_t slot = 0;
  int64_t priority = 0;
  bool running = false;  // else it is not claimed yet
};

struct SlotSeeker {
  int64_t priority = 0;
  Time run_after{};
  JobId id;
  bool stored = true;  // else it is being added, and gets its slot with that

  // In the order in which jobs get slots.
  friend auto operator<=>(const SlotSeeker&, const SlotSeeker&) = default;
};

struct SlotNeeds {
  int64_t slots = 0;        // of the key
  bool one_by_one = false;  // starts are spaced: at most one job with a slot waits for its claim
  int64_t turn = 0;         // grows with the changes of the key; among free slots each is the first in turn
  std::vector<SlotHolder> holders{};
  std::vector<SlotSeeker> seekers{};  // due, the best first; as many as there are slots are enough
};

struct SlotGift {
  JobId id;
  int64_t slot = 0;
  bool stored = true;  // as of the seeker
};

// When the key has to be checked although none of its slots was given or freed.
enum class NextLook {
  none,      // all slots are taken: a job that ends passes its slot on
  when_due,  // slots are free: for the next job that becomes due
  in_case    // starts are spaced and one waits for its claim, which prepares the next; for a claim that did not
};

struct SlotPlan {
  std::vector<SlotHolder> taken_back{};  // not claimed yet, and outranked or beyond the number of slots
  std::vector<SlotGift> gifts{};
  NextLook next_look = NextLook::none;
};

// Whether a seeker could get a slot at all; where none can, there is no need to look for seekers.
bool has_room(const SlotNeeds& needs);

// Free slots go to the seekers in order; then a seeker of better priority takes the slot of the worst holder that is
// not claimed yet. Among equals the holder keeps its slot.
SlotPlan plan_slots(SlotNeeds needs);

// Keeps only gifts of slots that are free by now: a claim may have been faster than taking a slot back. `freed` has the
// holders that lost theirs.
void drop_kept_slots(SlotPlan& plan, const std::set<JobId>& freed);

// How long to leave a key alone that has to be checked only in case; 0 for every other reason.
Duration pause_before(NextLook look, Duration gap);

}  // namespace sluice::jobs
