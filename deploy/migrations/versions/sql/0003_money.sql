ALTER TABLE step_plans ADD COLUMN recut boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN step_plans.recut IS
    'A part did not fit the model: the next claim cuts open parts smaller, as the profile then says.';

ALTER TABLE model_calls
    ADD COLUMN estimated_input bigint,
    ADD COLUMN estimated_output bigint,
    ADD COLUMN wide boolean,
    ADD COLUMN manner text;
COMMENT ON COLUMN model_calls.estimated_input IS
    'Tokens of the prompt by our own tokenizer: beside reported ones they teach a profile''s ratio.';
COMMENT ON COLUMN model_calls.wide IS
    'Whether much of the prompt is in a script without spaces: those are learned apart.';
COMMENT ON COLUMN model_calls.manner IS
    'How the request was asked: format of replies, field of the limit, whether usage was asked for.';
CREATE INDEX model_calls_of_profile ON model_calls (profile, started_at DESC);
