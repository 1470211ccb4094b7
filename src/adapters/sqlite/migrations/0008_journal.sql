-- State that lives in memory and is journaled. A row holds all records of one commit.
CREATE TABLE journal (
  -- The number of its last record; the others count down from it.
  last INTEGER PRIMARY KEY,
  records BLOB NOT NULL
) STRICT;

-- The state of each part at the time when the earlier records were dropped.
CREATE TABLE journal_snapshots (
  part TEXT PRIMARY KEY,
  -- Records of the part up to this number are in it.
  up_to INTEGER NOT NULL,
  records BLOB NOT NULL
) STRICT;
