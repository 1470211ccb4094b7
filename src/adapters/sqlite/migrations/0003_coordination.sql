-- One row per key for ever: its fence must never start again.
CREATE TABLE fenced_leases (
  key TEXT PRIMARY KEY,
  owner TEXT NOT NULL,
  fence INTEGER NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE slots (
  key TEXT NOT NULL,
  number INTEGER NOT NULL,
  owner TEXT NOT NULL,
  token INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  PRIMARY KEY (key, number)
) STRICT, WITHOUT ROWID;

-- Circuit breakers. Times are microseconds of the database's clock, 0 is never.
CREATE TABLE breakers (
  key TEXT PRIMARY KEY,
  outcomes INTEGER NOT NULL DEFAULT 0,
  seen INTEGER NOT NULL DEFAULT 0,
  open_until INTEGER NOT NULL DEFAULT 0,
  open_for INTEGER NOT NULL DEFAULT 0,
  trials_good INTEGER NOT NULL DEFAULT 0,
  trial_until INTEGER NOT NULL DEFAULT 0,
  period INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
