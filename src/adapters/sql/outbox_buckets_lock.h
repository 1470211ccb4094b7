// The lock of SqlOutboxStore's parts that deal with all buckets at once.
#pragma once

#include "adapters/sql/statement.h"

namespace sluice::sql {

// Everybody locks all buckets in the same order: so shares are computed and fences raised one relay after the other,
// and nobody waits in a circle.
inline constexpr Statement lock_buckets{Statement::PerDialect{
    .postgres = "SELECT bucket, owner, fence, expires_at > now() FROM outbox_buckets ORDER BY bucket FOR UPDATE",
    .sqlite = "SELECT bucket, owner, fence, expires_at > now() FROM outbox_buckets ORDER BY bucket"}};

}  // namespace sluice::sql
