\ir ../shared_state.sql

-- Permits spent of a limit's days. `day` counts from 1970 in the calendar of the upstream; 0 if nothing is known yet.
CREATE TABLE day_budgets (
  limit_name text NOT NULL,
  day_name text NOT NULL,
  day bigint NOT NULL,
  spent bigint NOT NULL,
  PRIMARY KEY (limit_name, day_name)
);
