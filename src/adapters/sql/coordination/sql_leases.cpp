#include "adapters/sql/coordination/sql_leases.h"

#include "adapters/sql/driver/sql_text.h"

namespace sluice::sql {
namespace {

using coordination::FencedLease;
using coordination::FencedLeaseHolder;
using coordination::Lease;
using coordination::LeaseHolder;
using coordination::LeaseToken;
using coordination::Renewal;

constexpr std::string_view prefix = "hint:";

std::string row_of(std::string_view key) {
  return std::string(prefix).append(key);
}

// Reads the old row: RETURNING gives only the new one.
constexpr Statement find_held = R"(
    SELECT owner, fence, expires_at FROM fenced_leases
    WHERE key = $1 AND expires_at > now() @lock(FOR UPDATE))"_sql;
constexpr Statement end_held = "UPDATE fenced_leases SET expires_at = now() WHERE key = $1";

TxTask<std::optional<LeaseHolder>> end_body(Tx& tx, std::string row) {
  const Rows found = co_await tx.execute(find_held, Params(row));
  if (found.empty()) co_return std::nullopt;
  co_await tx.execute(end_held, Params(row));
  co_return LeaseHolder{found.one().text(0), found.one().integer(1), found.one().time(2)};
}

}  // namespace

Task<std::optional<LeaseToken>> SqlLeases::acquire(std::string key, std::string owner, Duration ttl) {
  return fenced_.acquire(row_of(key), std::move(owner), ttl);
}

Task<Renewal<Lease>> SqlLeases::renew(std::vector<Lease> leases, Duration ttl) {
  std::vector<FencedLease> rows;
  for (const Lease& lease : leases) rows.push_back({row_of(lease.key), lease.token});
  const std::vector<FencedLease> extended = co_await fenced_.renew(std::move(rows), ttl);
  Renewal<Lease> renewal;
  for (const FencedLease& row : extended) renewal.renewed.push_back({row.key.substr(prefix.size()), row.fence});
  co_return renewal;
}

Task<> SqlLeases::release(Lease lease) {
  return fenced_.release({row_of(lease.key), lease.token});
}

Task<std::optional<LeaseHolder>> SqlLeases::holder(std::string key) {
  const std::optional<FencedLeaseHolder> found = co_await fenced_.holder(row_of(key));
  if (!found) co_return std::nullopt;
  co_return LeaseHolder{found->owner, found->fence, found->until};
}

Task<std::optional<LeaseHolder>> SqlLeases::end_any(std::string key) {
  return database_.transact(end_body, row_of(key));
}

}  // namespace sluice::sql
