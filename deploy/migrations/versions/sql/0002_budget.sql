ALTER TABLE runs ADD COLUMN warned jsonb NOT NULL DEFAULT '{}';
COMMENT ON COLUMN runs.warned IS
    'Limits that were told to be near, with the value they had: once for each value.';

ALTER TABLE step_parts ADD COLUMN stop text;
COMMENT ON COLUMN step_parts.stop IS
    'Guardrail that stopped this part: no further call of it until a person overrides that stop.';
