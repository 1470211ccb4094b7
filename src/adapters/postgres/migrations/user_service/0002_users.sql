-- Accounts of people. Data that identifies a person is sealed; email_hash is keyed and serves lookup and uniqueness.
CREATE TABLE users (
  id uuid PRIMARY KEY,
  email bytea NOT NULL,
  email_hash bytea NOT NULL UNIQUE,
  password_hash text NOT NULL,
  role text NOT NULL CONSTRAINT users_role CHECK (role IN ('USER', 'SERVICE', 'ADMIN')),
  status text NOT NULL CONSTRAINT users_status CHECK (status IN ('ACTIVE', 'INACTIVE', 'DORMANT', 'DELETED')),
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL
);

CREATE INDEX users_with_rights ON users (role, id) WHERE role <> 'USER';
