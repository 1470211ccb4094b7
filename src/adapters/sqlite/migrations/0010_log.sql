-- The embedded log. Topics are declared; their partitions never change.
CREATE TABLE log_topics (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  partitions INTEGER NOT NULL,
  retention INTEGER NOT NULL
) STRICT;

-- Messages of one partition that were committed together. The offset of a message is id * 1024 + its number in the
-- block, so ids must never come again, also after the last block was removed: AUTOINCREMENT. (A row and an index entry
-- for each message would halve the rate of publishing.)
CREATE TABLE log_blocks (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  topic INTEGER NOT NULL,
  partition INTEGER NOT NULL,
  -- The numbers of its messages are first to first + count - 1; what was before has been trimmed.
  first INTEGER NOT NULL DEFAULT 0,
  count INTEGER NOT NULL,
  published_at INTEGER NOT NULL,
  records BLOB NOT NULL
) STRICT;

CREATE INDEX log_blocks_by_partition ON log_blocks (topic, partition);

-- Where each group goes on.
CREATE TABLE log_commits (
  group_name TEXT NOT NULL,
  topic INTEGER NOT NULL,
  partition INTEGER NOT NULL,
  next INTEGER NOT NULL,
  committed_at INTEGER NOT NULL,
  PRIMARY KEY (group_name, topic, partition)
) STRICT, WITHOUT ROWID;
