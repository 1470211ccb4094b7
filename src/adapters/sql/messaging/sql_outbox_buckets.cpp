// Sharing the buckets of the outbox: SqlOutboxStore's hold and release.
#include "adapters/sql/driver/number_list.h"
#include "adapters/sql/driver/sql_text.h"
#include "adapters/sql/messaging/outbox_buckets_lock.h"
#include "adapters/sql/messaging/sql_outbox_store.h"

namespace sluice::sql {
namespace {

using messaging::HeldBucket;
using messaging::outbox_buckets;

constexpr Statement sign_in = R"(
    INSERT INTO outbox_relays (owner, expires_at) VALUES ($1, now() + @us($2))
    ON CONFLICT (owner) DO UPDATE SET expires_at = excluded.expires_at)"_sql;
constexpr Statement drop_gone = "DELETE FROM outbox_relays WHERE expires_at <= now()";
constexpr Statement count_relays =
    "SELECT count(*), coalesce(sum(CASE WHEN owner < $1 THEN 1 ELSE 0 END), 0) FROM outbox_relays";
constexpr Statement renew = "UPDATE outbox_buckets SET expires_at = now() + @us($2) WHERE bucket @in_list($1, int)"_sql;
constexpr Statement take = R"(
    UPDATE outbox_buckets SET owner = $3, fence = fence + 1, expires_at = now() + @us($2)
    WHERE bucket @in_list($1, int))"_sql;
constexpr Statement give_back = R"(
    UPDATE outbox_buckets SET owner = '', expires_at = now() WHERE bucket @in_list($1, int))"_sql;
constexpr Statement sign_out = "DELETE FROM outbox_relays WHERE owner = $1";
constexpr Statement give_all_back = "UPDATE outbox_buckets SET owner = '', expires_at = now() WHERE owner = $1";

struct Shares {
  std::vector<HeldBucket> held;  // stays or becomes ours
  std::vector<int32_t> kept;
  std::vector<int32_t> taken;
  std::vector<int32_t> given_back;
};

Shares share_out(const Rows& buckets, const std::string& owner, size_t share) {
  Shares shares;
  for (const Row& row : buckets) {
    const auto bucket = static_cast<int32_t>(row.integer(0));
    if (!row.boolean(3) || row.text(1) != owner) continue;
    const bool keep = shares.held.size() < share;
    (keep ? shares.kept : shares.given_back).push_back(bucket);
    if (keep) shares.held.push_back({bucket, row.integer(2)});
  }
  for (const Row& row : buckets) {
    if (row.boolean(3) || shares.held.size() >= share) continue;
    const auto bucket = static_cast<int32_t>(row.integer(0));
    shares.taken.push_back(bucket);
    shares.held.push_back({bucket, row.integer(2) + 1});
  }
  return shares;
}

// If the division leaves a remainder, the first relays by name have one bucket more.
size_t fair_share(int64_t relays, int64_t before_us) {
  return static_cast<size_t>(outbox_buckets / relays + (before_us < outbox_buckets % relays ? 1 : 0));
}

TxTask<std::vector<HeldBucket>> hold_body(Tx& tx, std::string owner, Duration ttl) {
  const Rows buckets = co_await tx.execute(lock_buckets);
  co_await tx.execute(sign_in, Params(owner, ttl.count()));
  co_await tx.execute(drop_gone);
  const Rows relays = co_await tx.execute(count_relays, Params(owner));
  const Shares shares = share_out(buckets, owner, fair_share(relays.one().integer(0), relays.one().integer(1)));
  const Dialect dialect = tx.dialect();
  if (!shares.kept.empty()) co_await tx.execute(renew, Params(number_list(dialect, shares.kept), ttl.count()));
  if (!shares.taken.empty()) co_await tx.execute(take, Params(number_list(dialect, shares.taken), ttl.count(), owner));
  if (!shares.given_back.empty()) co_await tx.execute(give_back, Params(number_list(dialect, shares.given_back)));
  co_return shares.held;
}

TxTask<> release_body(Tx& tx, std::string owner) {
  co_await tx.execute(lock_buckets);
  co_await tx.execute(give_all_back, Params(owner));
  co_await tx.execute(sign_out, Params(owner));
}

}  // namespace

Task<std::vector<HeldBucket>> SqlOutboxStore::hold(std::string owner, Duration ttl) {
  return database_.transact(hold_body, std::move(owner), ttl);
}

Task<> SqlOutboxStore::release(std::string owner) {
  return database_.transact(release_body, std::move(owner));
}

}  // namespace sluice::sql
