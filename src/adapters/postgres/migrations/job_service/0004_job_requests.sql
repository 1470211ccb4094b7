-- Requests that add jobs and may be sent again, with a hash of what they ask for and what they were answered: for each
-- job its id, and then + where it was added or = where it was there.
CREATE TABLE job_requests (
  id uuid PRIMARY KEY,
  content uuid NOT NULL,
  answer text NOT NULL,
  asked_at timestamptz NOT NULL
);

CREATE INDEX job_requests_age ON job_requests (asked_at);
