-- One row per limit: the stamps of its last permits and the credit of its days, as one value that is read, decided on
-- and written back under the row's lock. Rewritten with every draw, so there is room for the next version beside it.
CREATE TABLE limits (
  name text PRIMARY KEY,
  state bytea NOT NULL
) WITH (fillfactor = 50);
