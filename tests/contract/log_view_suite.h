// The fixture of log_view_contract.cpp, for the engines that run it.
#pragma once

#include "tests/contract/log_fixture.h"

namespace sluice::test {

class LogViewContract : public LogFixture {
 protected:
  using TopicView = messaging::TopicView;
  using GroupView = messaging::GroupView;

  TopicView look_at(const std::string& topic) {
    for (TopicView& each : run(view().topics())) {
      if (each.topic.name == topic) return each;
    }
    return {};
  }
  std::vector<GroupView> look_at_group(const std::string& group) {
    std::vector<GroupView> all = run(view().groups());
    std::erase_if(all, [&](const GroupView& each) { return each.group != group; });
    return all;
  }
  // The view of a group that reads one topic of one partition.
  std::optional<GroupView> only_partition_of(const std::string& group) {
    const std::vector<GroupView> all = look_at_group(group);
    return all.size() == 1 ? std::optional(all[0]) : std::nullopt;
  }
  bool lags_within_5s(const std::string& group, int64_t lag) {
    return holds_within(5s, [&] {
      const auto seen = only_partition_of(group);
      return seen && seen->lag == lag;
    });
  }
  std::vector<std::string> read(const std::string& topic, int32_t partition, int64_t from, size_t most) {
    std::vector<std::string> payloads;
    for (const auto& each : run(view().read(topic, partition, from, most))) payloads.emplace_back(each.payload);
    return payloads;
  }
};

}  // namespace sluice::test
