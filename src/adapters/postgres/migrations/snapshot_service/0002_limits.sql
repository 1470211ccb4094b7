\ir ../shared_state.sql

-- What was spent of a limit's days. `day` counts from 1970 on the calendar of whoever counts; 0: nothing is known yet.
CREATE TABLE day_budgets (
  limit_name text NOT NULL,
  day_name text NOT NULL,
  day bigint NOT NULL,
  spent bigint NOT NULL,
  PRIMARY KEY (limit_name, day_name)
);
