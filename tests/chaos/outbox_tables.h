// Tables of the services of the outbox tests, in the schema of job_service: aggregates that change, every committed
// change, and every effect of a consumer, in order.
#pragma once

#include "adapters/sql/driver/statement.h"

namespace sluice::test {

inline constexpr const char* outbox_service = "job_service";
inline constexpr const char* outbox_topic = "changes";
inline constexpr int outbox_aggregates = 40;

inline constexpr sql::Statement make_aggregates =
    "CREATE TABLE aggregates AS SELECT 'aggregate ' || number AS id, 0::bigint AS version "
    "FROM generate_series(1, 40) AS series (number)";
inline constexpr sql::Statement make_changes =
    "CREATE TABLE changes (aggregate text NOT NULL, version bigint NOT NULL, message_id uuid NOT NULL)";
inline constexpr sql::Statement make_effects =
    "CREATE TABLE effects (number bigserial, aggregate text NOT NULL, version bigint NOT NULL, "
    "  message_id uuid NOT NULL)";
inline constexpr sql::Statement make_inbox =
    "CREATE TABLE inbox (consumer text NOT NULL, message_id uuid NOT NULL, seen_at timestamptz NOT NULL, "
    "  PRIMARY KEY (consumer, message_id))";

}  // namespace sluice::test
