// Contract of every accounts::AuditLog, tested on a real engine.
#include "tests/contract/audit_log_suite.h"

namespace sluice::test {

TEST_P(AuditLogContract, entries_are_listed_as_they_were_recorded_the_newest_first) {
  const accounts::AuditEntry full{"ops (key 1)", unique("POST /replay"), "id=1", "10.0.0.1", "request-1"};
  run(log_->record(full));
  const std::string later = unique("later");
  record(later);
  const auto listed = run(log_->list(2));
  ASSERT_EQ(listed.size(), 2U);
  EXPECT_EQ(listed[0].entry.action, later);
  EXPECT_EQ(listed[1].entry.action, full.action);
  EXPECT_EQ(listed[1].entry.actor, full.actor);
  EXPECT_EQ(listed[1].entry.target, full.target);
  EXPECT_EQ(listed[1].entry.address, full.address);
  EXPECT_EQ(listed[1].entry.request_id, full.request_id);
  EXPECT_GE(listed[0].at, listed[1].at);
  EXPECT_EQ(run(log_->list(1)).size(), 1U);
}

TEST_P(AuditLogContract, what_is_older_than_a_year_goes_when_something_new_comes) {
  const std::string old = unique("old");
  const std::string recent = unique("recent");
  record(old);
  record(recent);
  sql::Params aged(Time{1s}, old);
  run(database().write("UPDATE audit_log SET at = $1 WHERE action = $2", std::move(aged)));
  EXPECT_TRUE(holds(old));
  record("new");
  EXPECT_FALSE(holds(old));
  EXPECT_TRUE(holds(recent));
}

TEST_P(AuditLogContract, at_most_a_million_are_kept) {
  constexpr sql::Statement skip_many{sql::Statement::PerDialect{
      .postgres = "SELECT setval(pg_get_serial_sequence('audit_log', 'id'), max(id) + 1000000) FROM audit_log",
      .sqlite = "UPDATE audit_log SET id = id + 1000000 WHERE id = (SELECT max(id) FROM audit_log)"}};
  const std::string first = unique("first");
  record(first);
  record("last");
  run(database().write(skip_many));
  EXPECT_TRUE(holds(first));
  const std::string next = unique("next");
  record(next);
  EXPECT_FALSE(holds(first));
  EXPECT_TRUE(holds(next));
}

}  // namespace sluice::test
