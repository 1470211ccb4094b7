-- Accounts of people. Data that identifies a person is sealed; email_hash is keyed and serves lookup and uniqueness.
CREATE TABLE users (
  id BLOB PRIMARY KEY,
  email BLOB NOT NULL,
  email_hash BLOB NOT NULL UNIQUE,
  password_hash TEXT NOT NULL,
  role TEXT NOT NULL CONSTRAINT users_role CHECK (role IN ('USER', 'SERVICE', 'ADMIN')),
  status TEXT NOT NULL CONSTRAINT users_status CHECK (status IN ('ACTIVE', 'INACTIVE', 'DORMANT', 'DELETED')),
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
