// A consumer group of a PretendLog: the assignment of partitions, and how they change hands.
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "messaging/subscription.h"
#include "runtime/clock.h"

namespace sluice::messaging {

class PretendSubscription;

struct PretendPlace {
  AssignmentRef assignment;
  PretendSubscription* owner = nullptr;
  int64_t committed = 0;
  int64_t position = 0;
  bool paused = false;
  std::optional<Instant> leave_by;
};

struct PretendMember {
  PretendSubscription* subscription;
  Instant seen;
  Duration session;
  std::vector<AssignmentRef> leaving{};
};

class PretendGroup {
 public:
  using Key = std::pair<std::string, int32_t>;

  std::map<Key, PretendPlace> places;
  std::vector<PretendMember> members;
  std::map<const PretendSubscription*, std::vector<AssignmentRef>> lost;  // not yet told
  int assignments = 0;

  PretendMember* member(const PretendSubscription* subscription) {
    const auto found = std::ranges::find(members, subscription, &PretendMember::subscription);
    return found == members.end() ? nullptr : &*found;
  }
  void join(PretendSubscription* subscription, Instant now, Duration session) {
    members.push_back({subscription, now, session});
  }
  void leave(const PretendSubscription* subscription) {
    for (auto& [key, place] : places) {
      if (place.owner == subscription) lose(place);
    }
    std::erase_if(members, [=](const PretendMember& member) { return member.subscription == subscription; });
  }

  // Shares the partitions evenly: assigns free ones, asks back those that another member should have, and takes away
  // those that were not let go in time or belong to a silent member.
  void share(Instant now, Duration handover) {
    for (size_t i = 0; i < members.size();) {
      if (now - members[i].seen > members[i].session) {
        leave(members[i].subscription);
      } else {
        ++i;
      }
    }
    if (members.empty()) return;
    size_t turn = 0;
    for (auto& [key, place] : places) {
      PretendMember& should = members[turn++ % members.size()];
      if (place.owner != nullptr && place.leave_by && now >= *place.leave_by) {
        lose(place);
      }
      if (place.owner == nullptr) {
        give(key, place, should.subscription);
      } else if (place.owner != should.subscription && !place.leave_by) {
        place.leave_by = now + handover;
        member(place.owner)->leaving.push_back(place.assignment);
      }
    }
  }

  PretendPlace* place_of(const AssignmentRef& assignment) {
    for (auto& [key, place] : places) {
      if (place.assignment == assignment) return &place;
    }
    return nullptr;
  }

  static void take_away(PretendPlace& place) {
    place.owner = nullptr;
    place.assignment.reset();
    place.leave_by.reset();
  }

 private:
  void lose(PretendPlace& place) {
    lost[place.owner].push_back(place.assignment);
    take_away(place);
  }
  void give(const Key& key, PretendPlace& place, PretendSubscription* owner) {
    ++assignments;
    place.owner = owner;
    place.assignment = std::make_shared<const Assignment>(Assignment{key.first, key.second});
    place.position = place.committed;
    place.paused = false;
  }
};

}  // namespace sluice::messaging
