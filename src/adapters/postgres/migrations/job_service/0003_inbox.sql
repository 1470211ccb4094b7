-- Messages whose effect is in this schema. A consumer writes its row in the transaction of the effect. Rows come and go
-- at the speed of messages, so a fixed number of dead ones is worth a vacuum, not a share of what a long retention keeps.
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

-- What instances share where there is no Redis: every service has the same tables.
--
-- One row per key for ever: its fence must never start again.
CREATE TABLE fenced_leases (
  key text PRIMARY KEY,
  owner text NOT NULL,
  fence bigint NOT NULL,
  expires_at timestamptz NOT NULL
);

CREATE TABLE slots (
  key text NOT NULL,
  number bigint NOT NULL,
  owner text NOT NULL,
  token bigint NOT NULL,
  expires_at timestamptz NOT NULL,
  PRIMARY KEY (key, number)
);

-- One row per limit: the stamps of its last permits and the credit of its days, as one value that is read, decided on
-- and written back under the row's lock. Rewritten with every draw, so there is room for the next version beside it.
CREATE TABLE limits (
  name text PRIMARY KEY,
  state bytea NOT NULL
) WITH (fillfactor = 50);
