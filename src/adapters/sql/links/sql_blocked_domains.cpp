#include "adapters/sql/links/sql_blocked_domains.h"

#include <algorithm>

#include "adapters/sql/driver/sql_text.h"
#include "base/check.h"

namespace sluice::sql {
namespace {

using namespace links;

// Refusals by 403 and the like count from 1 again after a time without one; other reasons are never forgotten.
constexpr Statement count_one = R"(
    INSERT INTO blocked_domains AS b (domain, reason, count, first_at, last_at) VALUES ($1, $2, 1, now(), now())
    ON CONFLICT (domain, reason) DO UPDATE SET count = CASE
        WHEN b.reason = 'forbidden' AND b.last_at < now() - @us($3) THEN 1 ELSE b.count + 1 END, last_at = now()
    RETURNING count)"_sql;
constexpr Statement most_blamed = R"(
    WITH believed AS (SELECT * FROM blocked_domains WHERE reason <> 'forbidden' OR count >= $2)
    SELECT b.domain, b.reason, b.count, b.first_at, b.last_at
    FROM believed b JOIN (SELECT domain, sum(count) AS total FROM believed GROUP BY domain
      ORDER BY total DESC, domain LIMIT $1) AS worst ON worst.domain = b.domain
    ORDER BY worst.total DESC, b.domain, b.reason)"_sql;

TxTask<int64_t> blame_body(Tx& tx, std::string domain, FailureReason reason) {
  const Rows counted =
      co_await tx.execute(count_one, Params(domain, enum_name(reason), BlockedDomains::forgotten_after.count()));
  co_return counted.one().integer(0);
}

}  // namespace

Task<int64_t> SqlBlockedDomains::blame(std::string domain, FailureReason reason) {
  return database_.transact(blame_body, std::move(domain), reason);
}

Task<std::vector<BlockedDomain>> SqlBlockedDomains::candidates(size_t most) {
  Params params(most, whims);
  const Rows rows = co_await database_.read(most_blamed, std::move(params));
  std::vector<BlockedDomain> domains;
  for (const Row& row : rows) {
    const auto reason = parse_enum<FailureReason>(row.text(1));
    check_that(reason.has_value(), "unknown reason {} of a blocked domain", row.text(1));
    if (domains.empty() || domains.back().domain != row.text(0)) {
      domains.push_back({.domain = row.text(0), .first_at = row.time(3), .last_at = row.time(4)});
    }
    BlockedDomain& domain = domains.back();
    domain.count += row.integer(2);
    domain.reasons.emplace(*reason, row.integer(2));
    domain.first_at = std::min(domain.first_at, row.time(3));
    domain.last_at = std::max(domain.last_at, row.time(4));
  }
  co_return domains;
}

}  // namespace sluice::sql
