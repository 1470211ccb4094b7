-- Keys for programs. Only the SHA-256 of the secret is kept. `owner_id` identifies the caller: it is the id of the
-- first of the keys that replaced each other, so that data of the caller stays its own.
CREATE TABLE api_keys (
  id uuid PRIMARY KEY,
  owner_id uuid NOT NULL,
  name text NOT NULL,
  role text NOT NULL CONSTRAINT api_keys_role CHECK (role IN ('USER', 'SERVICE', 'ADMIN')),
  key_hash bytea NOT NULL CONSTRAINT api_keys_key_hash UNIQUE,
  created_at timestamptz NOT NULL DEFAULT now(),
  revoked_at timestamptz,
  expires_at timestamptz,
  last_used_at timestamptz
);

CREATE INDEX api_keys_of_name ON api_keys (name) WHERE revoked_at IS NULL;

-- Uses of an administrator's right, in the order in which they were written.
CREATE TABLE audit_log (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at timestamptz NOT NULL,
  actor text NOT NULL,
  action text NOT NULL,
  target text NOT NULL,
  address text NOT NULL,
  request_id text NOT NULL
);
