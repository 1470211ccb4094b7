-- As before, but by a way that can't be mistaken: with a plan made while the table was small or believed to be, the join
-- of jobs and those finished went through all of the first, once for each of the second.
CREATE OR REPLACE FUNCTION leave_jobs() RETURNS trigger LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
  gone bigint;
BEGIN
  DELETE FROM jobs
  WHERE id = ANY (ARRAY(SELECT id FROM finished))
    AND (SELECT jobs.lock_token = ended.lock_token
           AND CASE ended.status WHEN 'canceled' THEN jobs.status <> 'running' ELSE jobs.status = 'running' END
         FROM finished_jobs AS ended WHERE ended.id = jobs.id);
  GET DIAGNOSTICS gone = ROW_COUNT;
  IF gone <> (SELECT count(*) FROM finished) THEN
    RAISE EXCEPTION 'a job was finished that was not in a state to end so'
      USING ERRCODE = 'check_violation', CONSTRAINT = 'job_transition';
  END IF;
  RETURN NULL;
END;
$$;
