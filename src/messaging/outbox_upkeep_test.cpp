#include "messaging/outbox_upkeep.h"

#include "messaging/testing/outbox_relay_fixture.h"
#include "runtime/metrics.h"

namespace sluice::messaging {
namespace {

struct OutboxUpkeepTest : OutboxRelayTest {
  // How often it warned meanwhile.
  size_t warnings_within(Duration time) {
    testing::internal::CaptureStderr();
    run_for(time);
    const std::string logged = testing::internal::GetCapturedStderr();
    size_t count = 0;
    for (size_t at = 0; (at = logged.find("the outbox is behind", at)) != std::string::npos; ++at) ++count;
    return count;
  }
  static std::string shown(const std::string& metric) {
    const std::string exposed = metrics::expose();
    const std::string line = "\n" + metric + "{outbox=\"main\"} ";
    const size_t at = exposed.find(line);
    if (at == std::string::npos) return "nothing";
    return exposed.substr(at + line.size(), exposed.find('\n', at + 1) - at - line.size());
  }
};

TEST_F(OutboxUpkeepTest, an_outbox_that_is_behind_is_warned_of_once_a_minute) {
  log.down = true;
  append(10, 10);
  start("a");
  EXPECT_EQ(warnings_within(30s), 0U) << "a hundred are not too many";
  EXPECT_EQ(shown("outbox_events_lag"), "100");
  append(1, 1);
  EXPECT_EQ(warnings_within(3min - 5s), 3U);
  EXPECT_EQ(shown("outbox_events_lag"), "101");
  log.down = false;
  EXPECT_EQ(warnings_within(5min), 0U);
  EXPECT_EQ(shown("outbox_events_lag"), "0");
}

TEST_F(OutboxUpkeepTest, each_of_several_relays_tells_of_its_share) {
  log.down = true;
  start("a");
  start("b");
  run_for(20s);
  append(64, 2);
  EXPECT_EQ(warnings_within(30s), 2U);
}

TEST_F(OutboxUpkeepTest, what_a_part_of_the_log_keeps_waiting_is_behind_too) {
  log.away.insert({"topic", RecordingLog::partition("aggregate 0")});
  start("a");
  append(1, 120);
  store.append("aggregate 1").topic = "other";
  EXPECT_GE(warnings_within(1min), 1U);
  EXPECT_EQ(shown("outbox_events_lag"), "120");
}

TEST_F(OutboxUpkeepTest, rows_that_were_refused_for_good_are_counted) {
  log.poison.insert("aggregate 0");
  append(2, 3);
  start("a");
  run_for(20s);
  EXPECT_EQ(shown("outbox_dead_rows"), "1");
  EXPECT_EQ(shown("outbox_events_lag"), "0") << "without those that wait behind it";
}

}  // namespace
}  // namespace sluice::messaging
