// Groups of readers of the embedded log, which all live in the process that owns the file.
//
// A group's partitions are shared fairly among its live members. A partition that has to move is revoked first and goes
// to its next reader when it was released; the partitions of a silent member move at once.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "messaging/bell.h"
#include "messaging/log_shares.h"
#include "messaging/subscription.h"

namespace sluice::sqlite {

// Safe to share between threads. `bell` rings when there is something for a member to find out; both outlive the
// members.
class LogGroups {
 public:
  struct Member;
  using MemberRef = std::shared_ptr<Member>;

  LogGroups(messaging::Bell& bell, const Clock& clock) : bell_(bell), clock_(clock) {}

  MemberRef make_member(messaging::SubscriptionConfig config);

  struct Standing {
    // To be told now, and only now.
    std::vector<messaging::AssignmentRef> leaving{};
    std::vector<messaging::AssignmentRef> lost{};
    // The partitions it may read.
    std::vector<messaging::AssignmentRef> held{};
  };
  // A sign of life: the member joins if it is not in its group (any more) and learns where it stands. `topics` are
  // those it reads, as far as they exist, with the number of their partitions.
  Standing appear(const MemberRef& member, const std::map<std::string, int32_t>& topics);

  // As long as it exists, the member does not count as silent.
  class Presence {
   public:
    Presence(LogGroups& groups, MemberRef member);
    ~Presence();
    Presence(const Presence&) = delete;
    Presence& operator=(const Presence&) = delete;

   private:
    LogGroups& groups_;
    MemberRef member_;
  };

  // Whether the assignment is the member's still, leaving or not.
  bool holds(const MemberRef& member, const messaging::AssignmentRef& assignment) const;
  void let_go(const MemberRef& member, const messaging::AssignmentRef& assignment);
  void leave(const MemberRef& member);

  struct Held {
    std::string group;
    messaging::LogPartition partition;
    std::string member;  // empty: none at the moment
  };
  // The partitions read by groups with members.
  std::vector<Held> held() const;

 private:
  struct Holding {
    Member* owner = nullptr;  // null: free
    messaging::AssignmentRef assignment{};
    enum class State { held, asked_back, told } state = State::held;
    Instant until{};  // told: how long it may be kept
  };
  struct Group {
    std::vector<MemberRef> members;
    std::map<messaging::LogPartition, Holding> partitions;
    bool unsettled = false;
  };

  // All with the mutex held.
  void join(Group& group, const MemberRef& member, const std::map<std::string, int32_t>& topics);
  void end_what_is_over(Group& group);
  void expel(Group& group, const MemberRef& member);
  void settle(Group& group);
  static void lose(Holding& holding);

  messaging::Bell& bell_;
  const Clock& clock_;
  mutable std::mutex mutex_;
  std::map<std::string, Group> groups_;
  int64_t last_member_ = 0;
};

}  // namespace sluice::sqlite
