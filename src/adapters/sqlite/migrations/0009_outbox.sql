-- Messages about changes, written in the transactions of the changes, for relays to publish to another log than the
-- embedded one. An aggregate has one bucket for ever; ids are never used again.
CREATE TABLE outbox_events (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  bucket INTEGER NOT NULL,
  message_id BLOB NOT NULL,
  topic TEXT NOT NULL,
  aggregate_type TEXT NOT NULL,
  aggregate_id TEXT NOT NULL,
  aggregate_version INTEGER NOT NULL,
  event_type TEXT NOT NULL,
  payload BLOB NOT NULL,
  headers TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  published INTEGER NOT NULL DEFAULT 0,
  published_at INTEGER,
  retry_count INTEGER NOT NULL DEFAULT 0,
  last_error TEXT
) STRICT;

CREATE INDEX outbox_unpublished ON outbox_events (bucket, id) WHERE NOT published;

-- Rows that the log refused for good. An aggregate that has one here waits until an operator replays or discards it.
CREATE TABLE outbox_dead (
  id INTEGER PRIMARY KEY,
  bucket INTEGER NOT NULL,
  message_id BLOB NOT NULL,
  topic TEXT NOT NULL,
  aggregate_type TEXT NOT NULL,
  aggregate_id TEXT NOT NULL,
  aggregate_version INTEGER NOT NULL,
  event_type TEXT NOT NULL,
  payload BLOB NOT NULL,
  headers TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  retry_count INTEGER NOT NULL,
  last_error TEXT,
  failed_at INTEGER NOT NULL
) STRICT;

CREATE INDEX outbox_parked ON outbox_dead (aggregate_type, aggregate_id);

-- The relay of each bucket.
CREATE TABLE outbox_buckets (
  bucket INTEGER PRIMARY KEY,
  owner TEXT NOT NULL DEFAULT '',
  fence INTEGER NOT NULL DEFAULT 0,
  expires_at INTEGER NOT NULL DEFAULT 0
) STRICT;

WITH RECURSIVE series (bucket) AS (SELECT 0 UNION ALL SELECT bucket + 1 FROM series WHERE bucket < 63)
INSERT INTO outbox_buckets (bucket) SELECT bucket FROM series;

CREATE TABLE outbox_relays (
  owner TEXT PRIMARY KEY,
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- The identity of the log that a topic's rows were published to, and when a relay last saw it unchanged. After a loss,
-- rows published since `lost_since` become unpublished again; rows with id <= lost_after are done. Meanwhile no row is
-- read.
CREATE TABLE outbox_topics (
  topic TEXT PRIMARY KEY,
  life TEXT NOT NULL,
  run TEXT NOT NULL,
  seen_at INTEGER NOT NULL,
  lost_since INTEGER,
  lost_after INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
