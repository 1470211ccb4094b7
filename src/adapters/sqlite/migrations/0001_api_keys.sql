-- Keys for programs. Only the SHA-256 of the secret is kept. `owner_id` identifies the caller: it is the id of the
-- first of the keys that replaced each other, so that data of the caller stays its own.
CREATE TABLE api_keys (
  id BLOB PRIMARY KEY,
  owner_id BLOB NOT NULL,
  name TEXT NOT NULL,
  role TEXT NOT NULL CONSTRAINT api_keys_role CHECK (role IN ('USER', 'SERVICE', 'ADMIN')),
  key_hash BLOB NOT NULL UNIQUE,
  created_at INTEGER NOT NULL DEFAULT (now()),
  revoked_at INTEGER,
  expires_at INTEGER,
  last_used_at INTEGER
) STRICT, WITHOUT ROWID;

-- Uses of an administrator's right, in the order in which they were written.
CREATE TABLE audit_log (
  id INTEGER PRIMARY KEY,
  at INTEGER NOT NULL,
  actor TEXT NOT NULL,
  action TEXT NOT NULL,
  target TEXT NOT NULL,
  address TEXT NOT NULL,
  request_id TEXT NOT NULL
) STRICT;
