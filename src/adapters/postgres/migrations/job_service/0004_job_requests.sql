-- Requests that add jobs and may be repeated, with a hash of the request and its answer: for each job its id, followed
-- by + if it was added or = if it existed.
CREATE TABLE job_requests (
  id uuid PRIMARY KEY,
  content uuid NOT NULL,
  answer text NOT NULL,
  asked_at timestamptz NOT NULL
);

CREATE INDEX job_requests_age ON job_requests (asked_at);
