-- Copies of documents, and claims to download them. A row keeps its last good body while a newer one is fetched. A row
-- that never had a body and was not listed by the operator exists only while it is claimed.
CREATE TABLE documents (
  origin TEXT NOT NULL,
  path TEXT NOT NULL,
  state TEXT NOT NULL CONSTRAINT documents_state CHECK (state IN ('EMPTY', 'DOWNLOADING', 'CACHED')),
  body BLOB,
  content_type TEXT,
  etag TEXT,
  case_type TEXT,
  forced INTEGER NOT NULL DEFAULT 0,
  fetched_at INTEGER,
  listed INTEGER NOT NULL DEFAULT 0,
  failures INTEGER NOT NULL DEFAULT 0,
  hold_until INTEGER,
  claimed_by TEXT,
  claim_token INTEGER NOT NULL DEFAULT 0,
  claim_expires_at INTEGER,
  change_number INTEGER NOT NULL DEFAULT 0,
  asked_at INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  PRIMARY KEY (origin, path)
) STRICT;

CREATE INDEX documents_case_type ON documents (case_type);

CREATE INDEX documents_change ON documents (origin, change_number);

CREATE INDEX documents_asked ON documents (origin, asked_at);

CREATE INDEX documents_claims ON documents (claim_expires_at) WHERE claim_expires_at IS NOT NULL;

-- How instances notice cheaply that something of an origin changed.
CREATE TABLE document_changes (
  origin TEXT PRIMARY KEY,
  number INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
