-- Tokens that are no longer good though they have not ended. Instances follow them in the order they were written.
CREATE TABLE denied_tokens (
  token text PRIMARY KEY,
  ends_at timestamptz NOT NULL,
  written_at timestamptz NOT NULL
);

CREATE INDEX denied_tokens_written ON denied_tokens (written_at, token);

CREATE INDEX denied_tokens_ends ON denied_tokens (ends_at);

\ir ../shared_state.sql
