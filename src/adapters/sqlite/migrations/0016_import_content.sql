-- The hash of the file, once it was read to its end: a request with the same Idempotency-Key and another file is
-- refused. Imports of earlier versions have none.
ALTER TABLE import_jobs ADD COLUMN content BLOB;
