-- Jobs that are not finished. `slot` says whether one may be claimed: NULL not yet, 0 it needs none (no throttle key),
-- 1 to k the slot of its throttle key that it has or runs in. `lock_token` tells one claim from the next and only grows.
-- A claim writes the row again: both the table and the index by id keep room for that. Keys are compared byte by byte
-- (COLLATE "C"), which costs a fraction of comparing them as a language would.
CREATE TABLE jobs (
  id uuid PRIMARY KEY WITH (fillfactor = 45),
  kind text COLLATE "C" NOT NULL,
  status text NOT NULL CONSTRAINT jobs_status CHECK (status IN ('queued', 'failed', 'running')),
  slot integer,
  slot_turn bigint,
  priority integer NOT NULL,
  run_after timestamptz NOT NULL,
  attempts integer NOT NULL DEFAULT 0 CHECK (attempts >= 0),
  max_attempts integer NOT NULL CHECK (max_attempts > 0),
  lock_token bigint NOT NULL DEFAULT 0,
  lock_ttl bigint,
  locked_at timestamptz,
  lock_expires_at timestamptz,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  locked_by text,
  throttle_key text COLLATE "C",
  unique_key text,
  payload json NOT NULL,
  last_error text,
  CONSTRAINT jobs_slot CHECK (slot IS NULL OR ((slot = 0) = (throttle_key IS NULL) AND (slot = 0 OR slot_turn IS NOT NULL))),
  CONSTRAINT jobs_lock CHECK (status <> 'running'
    OR (slot IS NOT NULL AND attempts > 0 AND lock_ttl > 0 AND locked_at IS NOT NULL AND locked_by IS NOT NULL
        AND lock_expires_at IS NOT NULL))
) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);

-- Exactly the claimable jobs, in the order of claims: claims do not read jobs of a full throttle key.
CREATE INDEX jobs_claimable ON jobs (kind, priority, run_after, id) WHERE slot IS NOT NULL AND status <> 'running';

-- No two jobs run in one slot during one turn. Jobs that only have a slot are left out, and turns are short: while a
-- transaction is held open, each job leaves a dead entry here, and a claim reads all those of its turn.
CREATE UNIQUE INDEX jobs_slots ON jobs (kind, throttle_key, slot, slot_turn) WHERE slot > 0 AND status = 'running';

-- The next jobs of a throttle key.
CREATE INDEX jobs_of_key ON jobs (kind, throttle_key, priority, run_after, id)
WHERE slot IS NULL AND throttle_key IS NOT NULL;

CREATE INDEX jobs_scheduled ON jobs (run_after) WHERE slot IS NULL AND throttle_key IS NULL;

CREATE INDEX jobs_running ON jobs (lock_expires_at) WHERE status = 'running';

-- Jobs that are finished, as they were, with how they ended. No index tells their age: an id does, nearly (it has the
-- time in it when the job was added), and each further index would cost a tenth of the speed of all jobs.
CREATE TABLE finished_jobs (
  id uuid PRIMARY KEY,
  kind text NOT NULL,
  status text NOT NULL CONSTRAINT finished_jobs_status CHECK (status IN ('succeeded', 'dead', 'canceled')),
  priority integer NOT NULL,
  run_after timestamptz NOT NULL,
  attempts integer NOT NULL,
  max_attempts integer NOT NULL,
  lock_token bigint NOT NULL,
  locked_at timestamptz,
  created_at timestamptz NOT NULL,
  finished_at timestamptz NOT NULL,
  locked_by text,
  throttle_key text,
  unique_key text,
  payload json NOT NULL,
  last_error text,
  result json
);

-- For searches among millions of jobs that succeeded.
CREATE INDEX finished_jobs_unlucky ON finished_jobs (status, id) WHERE status <> 'succeeded';

CREATE INDEX finished_jobs_unlucky_of_kind ON finished_jobs (kind, status, id) WHERE status <> 'succeeded';

-- The number of finished jobs by kind and status. Each statement that finishes or removes jobs adds a row, so that no
-- statement waits for another's count; rows that are too old for rates are added up periodically.
CREATE TABLE finished_counts (
  kind text NOT NULL,
  status text NOT NULL,
  at timestamptz NOT NULL,
  jobs bigint NOT NULL
);

CREATE INDEX finished_counts_age ON finished_counts (at);

-- Transitions. The condition of a trigger is evaluated without a call, so a legal transition costs nothing.
CREATE FUNCTION refuse_transition() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '% of job % is refused', TG_OP, OLD.id
    USING ERRCODE = 'check_violation', CONSTRAINT = 'job_transition';
END;
$$;

CREATE FUNCTION refuse_insert() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'job % does not begin as %', NEW.id, NEW.status
    USING ERRCODE = 'check_violation', CONSTRAINT = 'job_transition';
END;
$$;

CREATE TRIGGER jobs_begin_queued BEFORE INSERT ON jobs FOR EACH ROW
WHEN (NEW.status <> 'queued') EXECUTE FUNCTION refuse_insert();

-- A finished job starts again only if it is dead, and with its old token. The id of a new job is larger than all
-- before, so there is nearly always nothing to look up. The lookup uses the index even if statistics suggest a scan.
CREATE FUNCTION refuse_finished() RETURNS trigger LANGUAGE plpgsql SET enable_seqscan = off AS $$
BEGIN
  IF (SELECT id FROM added ORDER BY id LIMIT 1) > (SELECT id FROM finished_jobs ORDER BY id DESC LIMIT 1) THEN
    RETURN NULL;
  END IF;
  IF EXISTS (SELECT 1 FROM added
             WHERE (SELECT finished.status <> 'dead' OR finished.lock_token <> added.lock_token
                    FROM finished_jobs AS finished WHERE finished.id = added.id)) THEN
    RAISE EXCEPTION 'a job that is finished does not begin anew'
      USING ERRCODE = 'check_violation', CONSTRAINT = 'job_transition';
  END IF;
  RETURN NULL;
END;
$$;

CREATE TRIGGER jobs_begin_once AFTER INSERT ON jobs
REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION refuse_finished();

-- A claim has a new token; every other change keeps it.
CREATE TRIGGER jobs_transition BEFORE UPDATE ON jobs FOR EACH ROW
WHEN (NOT (NEW.id = OLD.id AND CASE
  WHEN NEW.status = 'running' AND NEW.lock_token > OLD.lock_token THEN NEW.attempts = OLD.attempts + 1
  WHEN NEW.lock_token <> OLD.lock_token THEN false
  ELSE NEW.status = OLD.status OR (OLD.status = 'running' AND NEW.status = 'failed')
END)) EXECUTE FUNCTION refuse_transition();

-- A job leaves by being written among the finished ones, and only from a state that may end so. Checked once for a
-- statement: a condition on each row would have each row locked first.
CREATE FUNCTION refuse_delete() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'a job leaves by being finished'
    USING ERRCODE = 'check_violation', CONSTRAINT = 'job_transition';
END;
$$;

CREATE TRIGGER jobs_leave_finished BEFORE DELETE ON jobs FOR EACH STATEMENT
WHEN (pg_trigger_depth() = 0) EXECUTE FUNCTION refuse_delete();

-- Each job is looked up by its id even if statistics suggest otherwise: with a plan made while the table was small, a
-- join read all jobs once for each finished one. `= ANY` of one value allows no other plan
-- (adapters/sql/driver/given_rows.h). Token and status are conditions on the deleted row itself: if another transaction
-- has just claimed the job again, the delete waits for it and then checks the new row. Not every release checks a row
-- found by its ctid again.
CREATE FUNCTION leave_jobs() RETURNS trigger LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
  gone bigint;
BEGIN
  DELETE FROM jobs USING finished
  WHERE jobs.id = ANY (ARRAY[finished.id]) AND jobs.lock_token = ANY (ARRAY[finished.lock_token])
    AND CASE finished.status WHEN 'canceled' THEN jobs.status <> 'running' ELSE jobs.status = 'running' END;
  GET DIAGNOSTICS gone = ROW_COUNT;
  IF gone <> (SELECT count(*) FROM finished) THEN
    RAISE EXCEPTION 'a job was finished that was not in a state to end so'
      USING ERRCODE = 'check_violation', CONSTRAINT = 'job_transition';
  END IF;
  INSERT INTO finished_counts (kind, status, at, jobs) SELECT kind, status, now(), count(*) FROM finished GROUP BY 1, 2;
  RETURN NULL;
END;
$$;

CREATE TRIGGER finished_jobs_leave AFTER INSERT ON finished_jobs
REFERENCING NEW TABLE AS finished FOR EACH STATEMENT EXECUTE FUNCTION leave_jobs();

CREATE FUNCTION count_removed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO finished_counts (kind, status, at, jobs) SELECT kind, status, now(), -count(*) FROM removed GROUP BY 1, 2;
  RETURN NULL;
END;
$$;

CREATE TRIGGER finished_jobs_removed AFTER DELETE ON finished_jobs
REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION count_removed();

CREATE TRIGGER finished_jobs_final BEFORE UPDATE ON finished_jobs FOR EACH ROW EXECUTE FUNCTION refuse_transition();

-- Which job has a unique key: live, or succeeded at any time. Outlives the job's own record.
CREATE TABLE job_keys (
  kind text COLLATE "C" NOT NULL,
  unique_key text COLLATE "C" NOT NULL,
  job_id uuid NOT NULL,
  PRIMARY KEY (kind, unique_key)
);

-- The throttle keys in use: no two states of one key.
CREATE TABLE throttle_keys (
  kind text COLLATE "C" NOT NULL,
  throttle_key text COLLATE "C" NOT NULL,
  PRIMARY KEY (kind, throttle_key)
);

-- The state of each throttle key, locked before slots of the key are given or freed. `holders`: the ids of all jobs that
-- have slots and perhaps of some that had, with commas between them. `waits`: whether jobs may wait for a slot. `look_at`:
-- when a job of it may have become able to run although no slot was given or freed. `waits_from`: a place in the order of
-- jobs before which none waits for a slot. `last_start` is kept only where the
-- kind limits starts a second. The row of a key is read as the last by its version, which every fourth change raises:
-- however many old versions a long transaction keeps, a look at the key passes few, and most changes touch no index.
CREATE TABLE throttle_states (
  kind text COLLATE "C" NOT NULL,
  throttle_key text COLLATE "C" NOT NULL,
  version bigint NOT NULL DEFAULT 0,
  changes bigint NOT NULL DEFAULT 0,
  holders text NOT NULL DEFAULT '',
  waits boolean NOT NULL DEFAULT false,
  last_start timestamptz,
  look_at timestamptz,
  waits_from_priority bigint,
  waits_from_time timestamptz,
  waits_from_id uuid,
  PRIMARY KEY (kind, throttle_key, version)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);

CREATE INDEX throttle_states_look ON throttle_states (look_at) WHERE look_at IS NOT NULL;

-- Tries that did not succeed. A successful try is in the finished job.
CREATE TABLE job_attempts (
  job_id uuid NOT NULL,
  lock_token bigint NOT NULL,
  kind text NOT NULL,
  throttle_key text,
  number integer NOT NULL,
  started_at timestamptz NOT NULL,
  ended_at timestamptz NOT NULL,
  worker text NOT NULL,
  outcome text NOT NULL CONSTRAINT job_attempts_outcome CHECK (outcome IN ('failed', 'dead', 'lost')),
  error text,
  PRIMARY KEY (job_id, lock_token)
);

CREATE INDEX job_attempts_age ON job_attempts (ended_at);
