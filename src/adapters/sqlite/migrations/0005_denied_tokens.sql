-- Tokens that are no longer good though they have not ended. They are followed in the order they were written.
CREATE TABLE denied_tokens (
  token TEXT PRIMARY KEY,
  ends_at INTEGER NOT NULL,
  written_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX denied_tokens_written ON denied_tokens (written_at, token);

CREATE INDEX denied_tokens_ends ON denied_tokens (ends_at);
