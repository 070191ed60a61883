ALTER TABLE step_plans ADD COLUMN sources uuid[];
COMMENT ON COLUMN step_plans.sources IS
    'Source versions that the parts cover, in order. Null: planned before this was kept; those in force.';
ALTER TABLE runs ADD COLUMN templates jsonb;
COMMENT ON COLUMN runs.templates IS
    'Of the first draft, as they were when the run was created. Null: none, or those there are.';
