-- State that instances share without Redis. Each service's migrations include this text.

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
