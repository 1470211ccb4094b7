// Contract of every accounts::AuditLog, tested on a real engine.
#include "tests/contract/audit_log_suite.h"

namespace sluice::test {

TEST_P(AuditLogContract, entries_are_listed_as_they_were_recorded_the_newest_first) {
  const accounts::AuditEntry full{"ops (key 1)", unique("POST /replay"), "id=1", "10.0.0.1", "request-1"};
  run(log().record(full));
  const std::string later = unique("later");
  record(later);
  const auto listed = run(log().list(2));
  ASSERT_EQ(listed.size(), 2U);
  EXPECT_EQ(listed[0].entry.action, later);
  EXPECT_EQ(listed[1].entry.action, full.action);
  EXPECT_EQ(listed[1].entry.actor, full.actor);
  EXPECT_EQ(listed[1].entry.target, full.target);
  EXPECT_EQ(listed[1].entry.address, full.address);
  EXPECT_EQ(listed[1].entry.request_id, full.request_id);
  EXPECT_GE(listed[0].at, listed[1].at);
  EXPECT_EQ(run(log().list(1)).size(), 1U);
}

TEST_P(AuditLogContract, what_is_older_than_a_year_goes_when_something_new_comes) {
  const std::string old = unique("old");
  const std::string recent = unique("recent");
  record(old);
  record(recent);
  run(port().set_time(old, Time{1s}));
  EXPECT_TRUE(holds(old));
  record("new");
  EXPECT_FALSE(holds(old));
  EXPECT_TRUE(holds(recent));
}

TEST_P(AuditLogContract, at_most_a_million_are_kept) {
  const std::string first = unique("first");
  record(first);
  record("last");
  run(port().skip_many());
  EXPECT_TRUE(holds(first));
  const std::string next = unique("next");
  record(next);
  EXPECT_FALSE(holds(first));
  EXPECT_TRUE(holds(next));
}

}  // namespace sluice::test
