-- The observability centre adds up a million calls: what is over is added up once, beside the runs.
CREATE TABLE summed (
    what text NOT NULL CHECK (what IN ('calls', 'steps')),
    at timestamptz NOT NULL,
    PRIMARY KEY (what, at)
);
COMMENT ON TABLE summed IS
    'Hours of calls and quarters of days of steps (UTC) whose sums equal the rows; others are read anew.';
CREATE TABLE calls_by_hour (
    at timestamptz NOT NULL,
    kind text NOT NULL,
    profile text NOT NULL,
    model text NOT NULL,
    currency text,
    fate text NOT NULL,
    calls bigint NOT NULL,
    input bigint NOT NULL,
    output bigint NOT NULL,
    cached bigint NOT NULL,
    reasoning bigint NOT NULL,
    cost numeric,
    unpriced bigint NOT NULL,
    UNIQUE NULLS NOT DISTINCT (at, kind, profile, model, currency, fate)
);
CREATE TABLE steps_by_quarter (
    at timestamptz NOT NULL,
    kind text,
    profile text,
    name text NOT NULL,
    measure text NOT NULL CHECK (measure IN ('took', 'waited')),
    bucket smallint NOT NULL,
    steps bigint NOT NULL,
    UNIQUE NULLS NOT DISTINCT (at, kind, profile, name, measure, bucket)
);
COMMENT ON TABLE steps_by_quarter IS
    'Of six hours each; rows without kind and profile are of all of them together.';
COMMENT ON COLUMN steps_by_quarter.bucket IS
    'Of milliseconds: 0 up to 1, n up to 1.05 to the power of n.';

-- What changes in an hour that was summed takes its mark away in the same transaction, so that no
-- mark ever stands over sums that differ from the rows. Whoever sums holds the lock alone: a change
-- that it has not seen waits, finds the mark, and takes it away. An ordinary end of a call or step
-- fires none of these.
CREATE FUNCTION unsum_call() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_advisory_xact_lock_shared(hashtext('redraft sums'));
    DELETE FROM summed
        WHERE what = 'calls' AND at = date_trunc('hour', OLD.ended_at, 'UTC');
    RETURN NULL;
END $$;
CREATE TRIGGER model_calls_unsum AFTER UPDATE OR DELETE ON model_calls
    FOR EACH ROW WHEN (OLD.ended_at IS NOT NULL) EXECUTE FUNCTION unsum_call();

CREATE FUNCTION unsum_step() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_advisory_xact_lock_shared(hashtext('redraft sums'));
    DELETE FROM summed
        WHERE what = 'steps' AND at = date_bin('6 hours', OLD.ended_at, '1970-01-01Z');
    RETURN NULL;
END $$;
CREATE TRIGGER steps_unsum AFTER UPDATE OR DELETE ON steps
    FOR EACH ROW WHEN (OLD.ended_at IS NOT NULL) EXECUTE FUNCTION unsum_step();

CREATE FUNCTION unsum_run() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_advisory_xact_lock_shared(hashtext('redraft sums'));
    DELETE FROM summed m USING steps s
        WHERE m.what = 'steps' AND s.run_id = OLD.id
          AND m.at = date_bin('6 hours', s.ended_at, '1970-01-01Z');
    RETURN NULL;
END $$;
CREATE TRIGGER runs_unsum AFTER UPDATE OF profile ON runs
    FOR EACH ROW WHEN (OLD.profile IS DISTINCT FROM NEW.profile) EXECUTE FUNCTION unsum_run();

DROP INDEX steps_sampled;
