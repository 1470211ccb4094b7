-- Messages whose effect is in this schema. A consumer writes its row in the transaction of the effect. Rows come and go
-- at the rate of messages, so a fixed number of dead rows starts a vacuum, not a share of a table with a long
-- retention.
CREATE TABLE inbox (
  consumer text NOT NULL,
  message_id uuid NOT NULL,
  seen_at timestamptz NOT NULL,
  PRIMARY KEY (consumer, message_id)
) WITH (
  autovacuum_vacuum_scale_factor = 0,
  autovacuum_vacuum_threshold = 10000,
  autovacuum_vacuum_insert_scale_factor = 0,
  autovacuum_vacuum_insert_threshold = 100000
);

CREATE INDEX inbox_by_age ON inbox (seen_at);

\ir ../shared_state.sql
