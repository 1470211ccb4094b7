-- What versions of a run of the coalescing engine start from; in microseconds. Rows stay for ever: every new floor is above
-- all earlier ones, and `number` makes runs that come at once follow each other.
CREATE TABLE version_floors (
  run TEXT PRIMARY KEY,
  number INTEGER NOT NULL UNIQUE,
  floor INTEGER NOT NULL,
  began INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
