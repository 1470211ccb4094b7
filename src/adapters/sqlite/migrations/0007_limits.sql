-- One row per limit: the stamps of its last permits and the credit of its days, as one value that is read, decided on
-- and written back in one transaction.
CREATE TABLE limits (
  name TEXT PRIMARY KEY,
  state BLOB NOT NULL
) STRICT;

-- Permits spent of a limit's days. `day` counts from 1970 in the calendar of the upstream; 0 if nothing is known yet.
CREATE TABLE day_budgets (
  limit_name TEXT NOT NULL,
  day_name TEXT NOT NULL,
  day INTEGER NOT NULL,
  spent INTEGER NOT NULL,
  PRIMARY KEY (limit_name, day_name)
) STRICT, WITHOUT ROWID;
