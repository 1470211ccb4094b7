-- Keys for machines. The secret is never kept, only its SHA-256.
CREATE TABLE api_keys (
  id BLOB PRIMARY KEY,
  name TEXT NOT NULL,
  role TEXT NOT NULL CONSTRAINT api_keys_role CHECK (role IN ('USER', 'SERVICE', 'ADMIN')),
  key_hash BLOB NOT NULL UNIQUE,
  created_at INTEGER NOT NULL DEFAULT (now()),
  revoked_at INTEGER
) STRICT, WITHOUT ROWID;
