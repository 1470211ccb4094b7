-- Bookmarks that an import names and another import brought, with the title that this import gives them, until its file
-- is known to be good. If it is good, the bookmark becomes its own. A bookmark that its previous import could not keep
-- is passed on to an import that names it here.
CREATE TABLE import_places (
  import_id uuid NOT NULL REFERENCES import_jobs (id),
  instance_id uuid NOT NULL REFERENCES link_instances (id),
  title text NOT NULL,
  PRIMARY KEY (import_id, instance_id)
);

CREATE INDEX import_places_instance ON import_places (instance_id, import_id);

-- Whether something that follows from how an import ended, or ended being read, is left to do: bookmarks to take over or
-- to delete, jobs to cancel.
ALTER TABLE import_jobs ADD COLUMN loose_ends boolean NOT NULL DEFAULT false;

CREATE INDEX import_jobs_loose_ends ON import_jobs (id) WHERE loose_ends;

CREATE INDEX import_jobs_ended ON import_jobs (finished_at) WHERE finished_at IS NOT NULL AND NOT loose_ends;
