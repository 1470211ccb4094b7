-- Keys for machines. The secret is never kept, only its SHA-256.
CREATE TABLE api_keys (
  id uuid PRIMARY KEY,
  name text NOT NULL,
  role text NOT NULL CONSTRAINT api_keys_role CHECK (role IN ('USER', 'SERVICE', 'ADMIN')),
  key_hash bytea NOT NULL CONSTRAINT api_keys_key_hash UNIQUE,
  created_at timestamptz NOT NULL DEFAULT now(),
  revoked_at timestamptz
);
