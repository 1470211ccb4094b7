// The fixture of message_log_contract.cpp, for the engines that run it.
#pragma once

#include "tests/contract/log_fixture.h"
#include "tests/contract/message_groups_suite.h"

namespace sluice::test {

class MessageLogContract : public LogFixture {
 protected:
  using Rejected = messaging::Rejected;
  using HeldBack = messaging::HeldBack;

  // Publishes it to `topic` and returns it as a reader gets it.
  messaging::Delivery round_trip(const std::string& topic, Message message) {
    message.topic = topic;
    const Position position = publish(message);
    const auto found = run(view().read(topic, position.partition, position.offset, 1));
    if (found.size() != 1) throw std::runtime_error("published and not there");
    EXPECT_EQ(found[0].position(), position);
    EXPECT_EQ(found[0].key, message.key);
    EXPECT_EQ(found[0].payload, message.payload);
    return found[0];
  }
  Topic described(const std::string& name) {
    for (const messaging::TopicView& each : run(view().topics())) {
      if (each.topic.name == name) return each.topic;
    }
    return {};
  }
  // How many messages the topic keeps.
  size_t kept(const std::string& topic) {
    size_t count = 0;
    for (int32_t partition = 0; partition < described(topic).partitions; ++partition) {
      count += run(view().read(topic, partition, 0, 1'000)).size();
    }
    return count;
  }
};

}  // namespace sluice::test
