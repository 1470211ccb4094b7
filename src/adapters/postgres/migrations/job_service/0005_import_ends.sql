-- What an import wants bookmarks of earlier imports to be called. They are when its file turned out to be good.
CREATE TABLE import_titles (
  import_id uuid NOT NULL REFERENCES import_jobs (id),
  instance_id uuid NOT NULL REFERENCES link_instances (id) ON DELETE CASCADE,
  title text NOT NULL,
  PRIMARY KEY (import_id, instance_id)
);

CREATE INDEX import_titles_instance ON import_titles (instance_id);

-- Whether something that follows from how an import ended, or ended being read, is left to do: titles to change, jobs
-- to cancel.
ALTER TABLE import_jobs ADD COLUMN loose_ends boolean NOT NULL DEFAULT false;

CREATE INDEX import_jobs_loose_ends ON import_jobs (id) WHERE loose_ends;
