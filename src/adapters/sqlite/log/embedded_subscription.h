// A member of a group that reads the embedded log.
#pragma once

#include <deque>
#include <map>

#include "adapters/sqlite/log/log_groups.h"
#include "adapters/sqlite/log/log_topics.h"

namespace sluice::sqlite {

// The parts of a subscription; they outlive it.
struct EmbeddedLogParts {
  sql::Database& database;
  Clock& clock;
  messaging::Bell& bell;
  LogTopics& topics;
  LogGroups& groups;
};

class EmbeddedSubscription final : public messaging::Subscription {
 public:
  EmbeddedSubscription(EmbeddedLogParts parts, messaging::SubscriptionConfig config, const Executor& executor);
  // One that was not closed leaves its group all the same.
  ~EmbeddedSubscription() override;

  Task<messaging::Fetched> fetch(size_t most, Deadline deadline) override;
  Task<> commit(std::vector<messaging::Progress> progress) override;
  void pause(const messaging::AssignmentRef& assignment) override;
  void resume(const messaging::AssignmentRef& assignment) override;
  Task<> let_go(messaging::AssignmentRef assignment) override;
  Task<> close() override;

 private:
  // How far one assignment has been read. Assignments of a topic that have come equally far are read together.
  struct Reading {
    int64_t topic = 0;
    std::optional<int64_t> start{};  // the first offset; nothing: not looked up yet
    int64_t block = 0;               // the next to be read
    bool paused = false;
    // Of blocks that were read and not handed out whole.
    std::deque<messaging::Delivery> ready{};
  };
  using Readings = std::map<messaging::AssignmentRef, Reading>;

  Task<std::map<std::string, int32_t>> existing_topics();
  void adopt(const LogGroups::Standing& standing);
  Task<> look_up_starts();
  Task<> read_more();
  Task<> read_topic(int64_t topic, int64_t last_block);
  void hand_out(size_t most, std::vector<messaging::Delivery>& deliveries);

  EmbeddedLogParts parts_;
  const messaging::SubscriptionConfig config_;
  messaging::Bell::Listener bell_;
  LogGroups::MemberRef member_;
  Readings readings_;
  // Index of the partition that goes first.
  size_t turn_ = 0;
};

}  // namespace sluice::sqlite
