-- The overview and the list of runs say how many stand in each status: of 100,000 runs each look read
-- 100,000 entries of an index. Every move writes a row here instead of changing one, so two moves
-- never wait for each other; what a snapshot sees of them is what it sees of the runs.
CREATE TABLE run_counts (
    kind text NOT NULL,
    actor text NOT NULL,
    status text NOT NULL,
    number bigint NOT NULL
);
COMMENT ON TABLE run_counts IS
    'Several rows may have one key: their sum counts. The API adds them up to one now and then.';
CREATE FUNCTION count_run() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP <> 'INSERT' THEN
        INSERT INTO run_counts (kind, actor, status, number)
            VALUES (OLD.kind, OLD.actor, OLD.status, -1);
    END IF;
    IF TG_OP <> 'DELETE' THEN
        INSERT INTO run_counts (kind, actor, status, number)
            VALUES (NEW.kind, NEW.actor, NEW.status, 1);
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER runs_count AFTER INSERT OR DELETE ON runs
    FOR EACH ROW EXECUTE FUNCTION count_run();
CREATE TRIGGER runs_count_move AFTER UPDATE OF kind, actor, status ON runs FOR EACH ROW
    WHEN ((OLD.kind, OLD.actor, OLD.status) IS DISTINCT FROM (NEW.kind, NEW.actor, NEW.status))
    EXECUTE FUNCTION count_run();
-- The triggers hold off who writes runs until this is committed: the count is of all of them.
INSERT INTO run_counts (kind, actor, status, number)
SELECT kind, actor, status, count(*) FROM runs GROUP BY kind, actor, status;
-- Few calls end badly, and those are looked for: by the newest alone 300 calls are read for each found.
CREATE INDEX model_calls_ended_badly ON model_calls (status, started_at DESC, id DESC)
    WHERE status IN ('CANCELLED', 'FAILED', 'LOST');
-- One row in six is of all kinds together; a look at a month read those of each kind too, or all of
-- them, by as many pages as rows.
CREATE INDEX steps_by_quarter_of_all ON steps_by_quarter (at)
    INCLUDE (name, measure, bucket, steps) WHERE kind IS NULL;
CREATE INDEX steps_by_quarter_of_kind ON steps_by_quarter (kind, at)
    INCLUDE (profile, name, measure, bucket, steps) WHERE kind IS NOT NULL;
