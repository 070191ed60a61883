ALTER TABLE runs ADD COLUMN unheard_source uuid;
COMMENT ON COLUMN runs.unheard_source IS
    'The source whose recording has no transcript yet: the run begins, or goes on, with transcribe.';
