-- The program has no service that uses this schema yet, so only tests apply its migrations.

-- The lowest version of each run of the coalescing engine, in microseconds. Rows stay for ever: every new floor is
-- above all earlier ones, and `number` orders runs that start at once.
CREATE TABLE version_floors (
  run text PRIMARY KEY,
  number bigint NOT NULL UNIQUE,
  floor bigint NOT NULL,
  began bigint NOT NULL
);
