#include "adapters/sql/messaging/inbox.h"

#include "adapters/sql/driver/sql_text.h"
#include "runtime/config_section.h"

namespace sluice::sql {
namespace {

// On PostgreSQL the insert waits for another transaction with the same row to end.
constexpr Statement insert_seen =
    "INSERT INTO inbox (consumer, message_id, seen_at) VALUES ($1, $2, now()) ON CONFLICT DO NOTHING";
constexpr Statement remove_old_rows = R"(
    DELETE FROM inbox @using_found(inbox, (consumer, message_id),
      SELECT consumer, message_id FROM inbox WHERE seen_at < now() - @us($1)
      ORDER BY seen_at LIMIT $2 @lock(FOR UPDATE SKIP LOCKED)))"_sql;

TxTask<int64_t> remove_body(Tx& tx, int64_t older_than_us, int64_t limit) {
  const Rows removed = co_await tx.execute(remove_old_rows, Params(older_than_us, limit));
  co_return removed.affected;
}

}  // namespace

void InboxConfig::describe(config::Section<InboxConfig>& section) {
  section
      .key("retention", &InboxConfig::retention,
           "Time the id of a handled message is kept: at least the time it may be delivered again, which is the "
           "retention of its topic plus that of dead letters.")
      .at_least(1h);
}

TxTask<bool> first_time(Tx& tx, std::string consumer, messaging::MessageId message) {
  Params params(std::move(consumer), message);
  const Rows inserted = co_await tx.execute(insert_seen, std::move(params));
  co_return inserted.affected == 1;
}

Task<int64_t> InboxRetention::remove_old() {
  return database_.transact(remove_body, config_.retention.count(), config_.batch);
}

Task<> InboxRetention::round() {
  int64_t removed = config_.batch;
  while (removed == config_.batch) removed = co_await remove_old();
  co_await clock_.sleep_for(config_.every);
}

}  // namespace sluice::sql
