\ir ../shared_state.sql

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
