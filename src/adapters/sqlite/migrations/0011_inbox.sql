-- Messages whose effect is in this file. A consumer writes its row in the transaction of the effect.
CREATE TABLE inbox (
  consumer TEXT NOT NULL,
  message_id BLOB NOT NULL,
  seen_at INTEGER NOT NULL,
  PRIMARY KEY (consumer, message_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX inbox_by_age ON inbox (seen_at);
