-- Copies of documents, and claims to download them. A row keeps its last good body while a newer one is fetched. A row
-- that never had a body and was not listed by the operator exists only while it is claimed.
CREATE TABLE documents (
  origin text NOT NULL,
  path text NOT NULL,
  state text NOT NULL CONSTRAINT documents_state CHECK (state IN ('EMPTY', 'DOWNLOADING', 'CACHED')),
  body bytea,
  content_type text,
  etag text,
  case_type text,
  forced boolean NOT NULL DEFAULT false,
  fetched_at timestamptz,
  listed boolean NOT NULL DEFAULT false,
  failures integer NOT NULL DEFAULT 0,
  hold_until timestamptz,
  claimed_by text,
  claim_token bigint NOT NULL DEFAULT 0,
  claim_expires_at timestamptz,
  change_number bigint NOT NULL DEFAULT 0,
  asked_at timestamptz NOT NULL,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  PRIMARY KEY (origin, path)
);

CREATE INDEX documents_case_type ON documents (case_type);

CREATE INDEX documents_change ON documents (origin, change_number);

CREATE INDEX documents_asked ON documents (origin, asked_at);

CREATE INDEX documents_claims ON documents (claim_expires_at) WHERE claim_expires_at IS NOT NULL;

-- How instances notice cheaply that something of an origin changed.
CREATE TABLE document_changes (
  origin text PRIMARY KEY,
  number bigint NOT NULL
);
