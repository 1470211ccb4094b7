-- The embedded log. Topics are declared; their partitions never change.
CREATE TABLE log_topics (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  partitions INTEGER NOT NULL,
  retention INTEGER NOT NULL
) STRICT;

-- Messages of one partition that were committed together. The offset of a message is id * 1024 + its number in the
-- block, so ids grow with every commit. A row for each message, or an index that is led by the partition, would cost
-- publishers more than the rest together: each commit would touch a page for each partition.
CREATE TABLE log_blocks (
  id INTEGER PRIMARY KEY,
  topic INTEGER NOT NULL,
  partition INTEGER NOT NULL,
  -- Its messages have the numbers first to first + count - 1; earlier ones were trimmed.
  first INTEGER NOT NULL,
  count INTEGER NOT NULL,
  published_at INTEGER NOT NULL,
  records BLOB NOT NULL
) STRICT;

CREATE INDEX log_blocks_of_topic ON log_blocks (topic, id, partition, first, count);

-- No block at or before this one comes again, removed or not.
CREATE TABLE log_last_removed (
  id INTEGER NOT NULL
) STRICT;

INSERT INTO log_last_removed (id) VALUES (0);

-- The next offset of each group.
CREATE TABLE log_commits (
  group_name TEXT NOT NULL,
  topic INTEGER NOT NULL,
  partition INTEGER NOT NULL,
  next INTEGER NOT NULL,
  committed_at INTEGER NOT NULL,
  PRIMARY KEY (group_name, topic, partition)
) STRICT, WITHOUT ROWID;
