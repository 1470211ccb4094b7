-- One row for each canonical URL, shared by all bookmarks of it. `id` is made of the URL (links/canonical_url.h): no
-- statement looks one up by its text, which may be longer than an index allows. `job_id` is the job that enriches it,
-- or did. `unused_since`: when its last bookmark was deleted; rows that stay unused are deleted after a while.
CREATE TABLE link_canonicals (
  id BLOB PRIMARY KEY,
  url TEXT NOT NULL,
  domain TEXT NOT NULL,
  title TEXT NOT NULL DEFAULT '',
  description TEXT NOT NULL DEFAULT '',
  site_name TEXT NOT NULL DEFAULT '',
  image_url TEXT NOT NULL DEFAULT '',
  icon_url TEXT NOT NULL DEFAULT '',
  fetched_at INTEGER,
  failure TEXT,
  job_id BLOB,
  created_at INTEGER NOT NULL,
  unused_since INTEGER
) STRICT;

CREATE INDEX link_canonicals_unused ON link_canonicals (unused_since) WHERE unused_since IS NOT NULL;

CREATE TABLE import_jobs (
  id BLOB PRIMARY KEY,
  user_id BLOB NOT NULL,
  source_type TEXT NOT NULL CONSTRAINT import_jobs_source CHECK (source_type IN ('chrome_html')),
  status TEXT NOT NULL
    CONSTRAINT import_jobs_status CHECK (status IN ('queued', 'running', 'succeeded', 'failed', 'canceled')),
  total_items INTEGER NOT NULL DEFAULT 0,
  processed_items INTEGER NOT NULL DEFAULT 0,
  failed_items INTEGER NOT NULL DEFAULT 0,
  skipped_items INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  started_at INTEGER,
  finished_at INTEGER,
  last_error TEXT,
  CONSTRAINT import_jobs_items CHECK (failed_items <= processed_items AND processed_items <= total_items)
) STRICT, WITHOUT ROWID;

CREATE INDEX import_jobs_reading ON import_jobs (updated_at) WHERE status = 'queued';

-- A bookmark: a link in a user's folder. A folder has a link once. `import_id` is the import that brought it, or the
-- one that took it over (import_places); that import's own row is deleted some day, the bookmark is not.
CREATE TABLE link_instances (
  id BLOB PRIMARY KEY,
  user_id BLOB NOT NULL,
  folder TEXT NOT NULL,
  link_id BLOB NOT NULL REFERENCES link_canonicals (id),
  title TEXT NOT NULL,
  import_id BLOB NOT NULL,
  created_at INTEGER NOT NULL,
  CONSTRAINT link_instances_place UNIQUE (user_id, folder, link_id)
) STRICT;

CREATE INDEX link_instances_all ON link_instances (user_id, id);

CREATE INDEX link_instances_folder ON link_instances (user_id, folder, id);

CREATE INDEX link_instances_import ON link_instances (import_id, id);

CREATE INDEX link_instances_link ON link_instances (link_id);

-- Which imports have a link, with how many bookmarks, and whether they still wait for it. The link's row may be gone: no
-- index finds the imports of a link that do not wait, so no reference is checked.
CREATE TABLE import_links (
  import_id BLOB NOT NULL REFERENCES import_jobs (id),
  link_id BLOB NOT NULL,
  bookmarks INTEGER NOT NULL,
  outcome TEXT NOT NULL
    CONSTRAINT import_links_outcome CHECK (outcome IN ('pending', 'enriched', 'failed')),
  PRIMARY KEY (import_id, link_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX import_links_pending ON import_links (link_id) WHERE outcome = 'pending';

-- Candidates for blocking: how often a domain did not want us, and why.
CREATE TABLE blocked_domains (
  domain TEXT NOT NULL,
  reason TEXT NOT NULL,
  count INTEGER NOT NULL,
  first_at INTEGER NOT NULL,
  last_at INTEGER NOT NULL,
  PRIMARY KEY (domain, reason)
) STRICT, WITHOUT ROWID;
