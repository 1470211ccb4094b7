// Relays with a pretended outbox and log, in virtual time.
#pragma once

#include <numeric>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "messaging/outbox_relay.h"
#include "messaging/testing/pretend_outbox.h"
#include "runtime/virtual_clock.h"

namespace sluice::messaging {

inline std::vector<int64_t> up_to(int64_t last) {
  std::vector<int64_t> versions(static_cast<size_t>(last));
  std::iota(versions.begin(), versions.end(), 1);
  return versions;
}

struct OutboxRelayTest : testing::Test {
  ~OutboxRelayTest() override {
    store.down = log.down = false;
    for (auto& relay : relays) {
      if (relay) stop(*relay);
    }
    run_for(1min);
  }

  OutboxRelay& start(const std::string& owner) {
    relays.push_back(std::make_unique<OutboxRelay>(OutboxRelayParts{store, log, bell, clock, random}, config, owner,
                                                   context.get_executor()));
    relays.back()->start();
    return *relays.back();
  }
  void stop(OutboxRelay& relay) {
    asio::co_spawn(context, relay.stop(), [](std::exception_ptr) {});
  }
  void run_for(Duration time) { clock.run(context, clock.now() + time); }
  void append(int aggregates, int times) {
    for (int i = 0; i < times; ++i) {
      for (int a = 0; a < aggregates; ++a) store.append(fmt::format("aggregate {}", a));
    }
  }
  // Each aggregate's versions arrived in order, each at least once.
  void expect_all_in_order(int aggregates, int times) {
    EXPECT_EQ(log.stored.size(), static_cast<size_t>(aggregates));
    for (const auto& [key, versions] : log.stored) {
      int64_t highest = 0;
      for (const int64_t version : versions) {
        EXPECT_LE(version, highest + 1) << key;
        highest = std::max(highest, version);
      }
      EXPECT_EQ(highest, times) << key;
    }
  }

  asio::io_context context;
  VirtualClock clock;
  SeededRandom random{1};
  Bell bell;
  PretendOutbox store{clock};
  RecordingLog log{clock};
  OutboxRelayConfig config;
  std::vector<std::unique_ptr<OutboxRelay>> relays;
};

}  // namespace sluice::messaging
