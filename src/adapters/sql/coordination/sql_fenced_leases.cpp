#include "adapters/sql/coordination/sql_fenced_leases.h"

#include "adapters/sql/driver/sql_text.h"

namespace sluice::sql {
namespace {

using coordination::Fence;
using coordination::FencedLease;
using coordination::FencedLeaseHolder;

// Lease and fence in one statement: the row lock of the conflict decides between racing callers, and the loser sees the
// winner's new end.
constexpr Statement acquire_lease = R"(
    INSERT INTO fenced_leases AS held (key, owner, fence, expires_at) VALUES ($1, $2, 1, now() + @us($3))
    ON CONFLICT (key) DO UPDATE
      SET owner = excluded.owner, fence = held.fence + 1, expires_at = excluded.expires_at
      WHERE held.expires_at <= now()
    RETURNING fence)"_sql;
constexpr Statement renew_lease = R"(
    UPDATE fenced_leases SET expires_at = now() + @us($3)
    WHERE key = $1 AND fence = $2 AND expires_at > now())"_sql;
constexpr Statement release_lease =
    "UPDATE fenced_leases SET expires_at = now() WHERE key = $1 AND fence = $2 AND expires_at > now()";
constexpr Statement find_holder =
    "SELECT owner, fence, expires_at FROM fenced_leases WHERE key = $1 AND expires_at > now()";

TxTask<std::optional<Fence>> acquire_body(Tx& tx, std::string key, std::string owner, Duration ttl) {
  const Rows rows = co_await tx.execute(acquire_lease, Params(key, owner, ttl.count()));
  if (rows.empty()) co_return std::nullopt;
  co_return rows.one().integer(0);
}

TxTask<std::vector<FencedLease>> renew_body(Tx& tx, std::vector<FencedLease> leases, Duration ttl) {
  std::vector<FencedLease> renewed;
  for (const FencedLease& lease : leases) {
    const Rows rows = co_await tx.execute(renew_lease, Params(lease.key, lease.fence, ttl.count()));
    if (rows.affected == 1) renewed.push_back(lease);
  }
  co_return renewed;
}

TxTask<> release_body(Tx& tx, FencedLease lease) {
  co_await tx.execute(release_lease, Params(lease.key, lease.fence));
}

}  // namespace

Task<std::optional<Fence>> SqlFencedLeases::acquire(std::string key, std::string owner, Duration ttl) {
  return database_.transact(acquire_body, std::move(key), std::move(owner), ttl);
}

Task<std::vector<FencedLease>> SqlFencedLeases::renew(std::vector<FencedLease> leases, Duration ttl) {
  // In one order, so that two instances that renew the same keys never wait for each other in a circle.
  std::ranges::sort(leases, {}, &FencedLease::key);
  return database_.transact(renew_body, std::move(leases), ttl);
}

Task<> SqlFencedLeases::release(FencedLease lease) {
  return database_.transact(release_body, std::move(lease));
}

Task<std::optional<FencedLeaseHolder>> SqlFencedLeases::holder(std::string key) {
  Params params(key);
  const Rows rows = co_await database_.read(find_holder, std::move(params));
  if (rows.empty()) co_return std::nullopt;
  const Row& row = rows.one();
  co_return FencedLeaseHolder{row.text(0), row.integer(1), row.time(2)};
}

}  // namespace sluice::sql
