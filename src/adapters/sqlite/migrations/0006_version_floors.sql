-- The lowest version of each run of the coalescing engine, in microseconds. Rows stay for ever: every new floor is
-- above all earlier ones, and `number` orders runs that start at once.
CREATE TABLE version_floors (
  run TEXT PRIMARY KEY,
  number INTEGER NOT NULL UNIQUE,
  floor INTEGER NOT NULL,
  began INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
