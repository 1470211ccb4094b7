// The lock of SqlOutboxStore's parts that deal with all buckets at once.
#pragma once

#include "adapters/sql/driver/sql_text.h"
#include "adapters/sql/driver/statement.h"

namespace sluice::sql {

// All transactions lock all buckets in the same order: so shares are computed and fences raised one relay after the
// other, without deadlocks.
inline constexpr Statement lock_buckets = R"(
    SELECT bucket, owner, fence, expires_at > now() FROM outbox_buckets
    ORDER BY bucket @lock(FOR UPDATE))"_sql;

}  // namespace sluice::sql
