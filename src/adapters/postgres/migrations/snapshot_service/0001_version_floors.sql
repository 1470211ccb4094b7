-- What versions of a run of the coalescing engine start from; in microseconds. Rows stay for ever: every new floor is above
-- all earlier ones, and `number` makes runs that come at once follow each other.
CREATE TABLE version_floors (
  run text PRIMARY KEY,
  number bigint NOT NULL UNIQUE,
  floor bigint NOT NULL,
  began bigint NOT NULL
);
