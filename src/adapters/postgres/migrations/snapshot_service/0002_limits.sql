-- One row per limit: the stamps of its last permits and the credit of its days, as one value that is read, decided on
-- and written back under the row's lock. Rewritten with every draw, so there is room for the next version beside it.
CREATE TABLE limits (
  name text PRIMARY KEY,
  state bytea NOT NULL
) WITH (fillfactor = 50);

-- What was spent of a limit's days. `day` counts from 1970 on the calendar of whoever counts; 0: nothing is known yet.
CREATE TABLE day_budgets (
  limit_name text NOT NULL,
  day_name text NOT NULL,
  day bigint NOT NULL,
  spent bigint NOT NULL,
  PRIMARY KEY (limit_name, day_name)
);

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
