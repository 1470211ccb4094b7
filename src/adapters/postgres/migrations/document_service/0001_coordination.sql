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

-- Circuit breakers. Times are microseconds of the database's clock, 0 is never.
CREATE TABLE breakers (
  key text PRIMARY KEY,
  outcomes bigint NOT NULL DEFAULT 0,
  seen bigint NOT NULL DEFAULT 0,
  open_until bigint NOT NULL DEFAULT 0,
  open_for bigint NOT NULL DEFAULT 0,
  trials_good bigint NOT NULL DEFAULT 0,
  trial_until bigint NOT NULL DEFAULT 0,
  period bigint NOT NULL DEFAULT 0
);
