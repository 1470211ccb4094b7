-- Jobs that are not finished. `slot` says whether one may be claimed: NULL not yet, 0 it needs none (no throttle key),
-- 1 to k the slot of its throttle key that it has or runs in. `lock_token` tells one claim from the next and only grows.
CREATE TABLE jobs (
  id BLOB PRIMARY KEY,
  kind TEXT NOT NULL,
  status TEXT NOT NULL CONSTRAINT jobs_status CHECK (status IN ('queued', 'failed', 'running')),
  slot INTEGER,
  slot_turn INTEGER,
  priority INTEGER NOT NULL,
  run_after INTEGER NOT NULL,
  attempts INTEGER NOT NULL DEFAULT 0 CHECK (attempts >= 0),
  max_attempts INTEGER NOT NULL CHECK (max_attempts > 0),
  lock_token INTEGER NOT NULL DEFAULT 0,
  lock_ttl INTEGER,
  locked_at INTEGER,
  lock_expires_at INTEGER,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  locked_by TEXT,
  throttle_key TEXT,
  unique_key TEXT,
  payload TEXT NOT NULL,
  last_error TEXT,
  CONSTRAINT jobs_slot CHECK (slot IS NULL OR (slot = 0) = (throttle_key IS NULL)),
  CONSTRAINT jobs_lock CHECK (status <> 'running'
    OR (slot IS NOT NULL AND attempts > 0 AND lock_ttl > 0 AND locked_at IS NOT NULL AND locked_by IS NOT NULL
        AND lock_expires_at IS NOT NULL))
) STRICT, WITHOUT ROWID;

-- Exactly the claimable jobs, in the order of claims: claims do not read jobs of a full throttle key.
CREATE INDEX jobs_claimable ON jobs (kind, priority, run_after, id) WHERE slot IS NOT NULL AND status <> 'running';

-- A slot is never given twice.
CREATE UNIQUE INDEX jobs_slots ON jobs (kind, throttle_key, slot) WHERE slot > 0;

-- The next jobs of a throttle key.
CREATE INDEX jobs_of_key ON jobs (kind, throttle_key, priority, run_after, id)
WHERE slot IS NULL AND throttle_key IS NOT NULL;

CREATE INDEX jobs_scheduled ON jobs (run_after) WHERE slot IS NULL AND throttle_key IS NULL;

CREATE INDEX jobs_running ON jobs (lock_expires_at) WHERE status = 'running';

-- Jobs that are finished, as they were, with how they ended. Their ids tell their age, nearly: no index does.
CREATE TABLE finished_jobs (
  id BLOB PRIMARY KEY,
  kind TEXT NOT NULL,
  status TEXT NOT NULL CONSTRAINT finished_jobs_status CHECK (status IN ('succeeded', 'dead', 'canceled')),
  priority INTEGER NOT NULL,
  run_after INTEGER NOT NULL,
  attempts INTEGER NOT NULL,
  max_attempts INTEGER NOT NULL,
  lock_token INTEGER NOT NULL,
  locked_at INTEGER,
  created_at INTEGER NOT NULL,
  finished_at INTEGER NOT NULL,
  locked_by TEXT,
  throttle_key TEXT,
  unique_key TEXT,
  payload TEXT NOT NULL,
  last_error TEXT,
  result TEXT
) STRICT, WITHOUT ROWID;

-- For searches among millions of jobs that succeeded.
CREATE INDEX finished_jobs_unlucky ON finished_jobs (status, id) WHERE status <> 'succeeded';

CREATE INDEX finished_jobs_unlucky_of_kind ON finished_jobs (kind, status, id) WHERE status <> 'succeeded';

CREATE TRIGGER jobs_begin_queued BEFORE INSERT ON jobs WHEN NEW.status <> 'queued'
BEGIN
  SELECT RAISE(ABORT, 'job_transition');
END;

-- A finished job starts again only if it is dead, and with its old token.
CREATE TRIGGER jobs_begin_once BEFORE INSERT ON jobs
WHEN EXISTS (
  SELECT 1 FROM finished_jobs WHERE id = NEW.id AND (status <> 'dead' OR lock_token <> NEW.lock_token))
BEGIN
  SELECT RAISE(ABORT, 'job_transition');
END;

-- A claim has a new token; every other change keeps it.
CREATE TRIGGER jobs_transition BEFORE UPDATE ON jobs
WHEN NOT (NEW.id = OLD.id AND CASE
  WHEN NEW.status = 'running' AND NEW.lock_token > OLD.lock_token THEN NEW.attempts = OLD.attempts + 1
  WHEN NEW.lock_token <> OLD.lock_token THEN false
  ELSE NEW.status = OLD.status OR (OLD.status = 'running' AND NEW.status = 'failed')
END)
BEGIN
  SELECT RAISE(ABORT, 'job_transition');
END;

-- A job leaves by being written among the finished ones, and only from a state that may end so.
CREATE TRIGGER finished_jobs_legal BEFORE INSERT ON finished_jobs
WHEN NOT EXISTS (
  SELECT 1 FROM jobs WHERE id = NEW.id AND lock_token = NEW.lock_token
    AND CASE NEW.status WHEN 'canceled' THEN status <> 'running' ELSE status = 'running' END)
BEGIN
  SELECT RAISE(ABORT, 'job_transition');
END;

CREATE TRIGGER finished_jobs_leave AFTER INSERT ON finished_jobs
BEGIN
  DELETE FROM jobs WHERE id = NEW.id;
END;

CREATE TRIGGER jobs_leave_finished BEFORE DELETE ON jobs
WHEN NOT EXISTS (SELECT 1 FROM finished_jobs WHERE id = OLD.id)
BEGIN
  SELECT RAISE(ABORT, 'job_transition');
END;

CREATE TRIGGER finished_jobs_final BEFORE UPDATE ON finished_jobs
BEGIN
  SELECT RAISE(ABORT, 'job_transition');
END;

-- Which job has a unique key: live, or succeeded at any time. Outlives the job's own record.
CREATE TABLE job_keys (
  kind TEXT NOT NULL,
  unique_key TEXT NOT NULL,
  job_id BLOB NOT NULL,
  PRIMARY KEY (kind, unique_key)
) STRICT, WITHOUT ROWID;

-- The state of each throttle key. `holders`: the ids of all jobs that have slots and perhaps of some that had, with commas
-- between them. `waits`: whether jobs may wait for a slot. `look_at`: when a job of it may have become able to run although
-- no slot was given or freed. `waits_from`: a place in the order of jobs before which none waits for a slot. `last_start` is kept only where the kind limits starts a second. `version` and
-- `changes` matter on PostgreSQL only.
CREATE TABLE throttle_states (
  kind TEXT NOT NULL,
  throttle_key TEXT NOT NULL,
  version INTEGER NOT NULL DEFAULT 0,
  changes INTEGER NOT NULL DEFAULT 0,
  holders TEXT NOT NULL DEFAULT '',
  waits INTEGER NOT NULL DEFAULT 0,
  last_start INTEGER,
  look_at INTEGER,
  waits_from_priority INTEGER,
  waits_from_time INTEGER,
  waits_from_id BLOB,
  PRIMARY KEY (kind, throttle_key)
) STRICT, WITHOUT ROWID;

CREATE INDEX throttle_states_look ON throttle_states (look_at) WHERE look_at IS NOT NULL;

-- Tries that did not succeed. A successful try is in the finished job.
CREATE TABLE job_attempts (
  job_id BLOB NOT NULL,
  lock_token INTEGER NOT NULL,
  kind TEXT NOT NULL,
  throttle_key TEXT,
  number INTEGER NOT NULL,
  started_at INTEGER NOT NULL,
  ended_at INTEGER NOT NULL,
  worker TEXT NOT NULL,
  outcome TEXT NOT NULL CONSTRAINT job_attempts_outcome CHECK (outcome IN ('failed', 'dead', 'lost')),
  error TEXT,
  PRIMARY KEY (job_id, lock_token)
) STRICT, WITHOUT ROWID;

CREATE INDEX job_attempts_age ON job_attempts (ended_at);
