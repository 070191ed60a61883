-- A call lost with items kept bought those: sums that follow this rule are marked `calls/2`. A process
-- of the release before can neither read them nor mark its own; it reads the rows until it is replaced.
DELETE FROM summed WHERE what = 'calls';
ALTER TABLE summed DROP CONSTRAINT summed_what_check;
ALTER TABLE summed ADD CONSTRAINT summed_what_check CHECK (what IN ('calls/2', 'steps'));
CREATE OR REPLACE FUNCTION unsum_call() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_advisory_xact_lock_shared(hashtext('redraft sums'));
    DELETE FROM summed
        WHERE what = 'calls/2' AND at = date_trunc('hour', OLD.ended_at, 'UTC');
    RETURN NULL;
END $$;
