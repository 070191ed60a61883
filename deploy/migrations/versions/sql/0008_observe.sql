-- What the observability centre asks: what ended in a time range, over all runs.
CREATE INDEX model_calls_ended ON model_calls (ended_at) WHERE ended_at IS NOT NULL;
CREATE INDEX steps_ended ON steps (ended_at) WHERE ended_at IS NOT NULL;
CREATE INDEX steps_sampled ON steps (ended_at)
    INCLUDE (run_id, name, queued_at, started_at)
    WHERE status = 'SUCCEEDED' AND get_byte(uuid_send(id), 15) < 16;
COMMENT ON INDEX steps_sampled IS
    'One step in 16, by the last byte of its random id: percentiles of long ranges sort these only.';
CREATE INDEX runs_created ON runs (created_at) INCLUDE (status, kind, profile);
CREATE INDEX runs_ended ON runs (ended_at) INCLUDE (status, kind, profile)
    WHERE ended_at IS NOT NULL;
CREATE INDEX steps_stopped ON steps (run_id, ended_at) WHERE reason_code = 'interrupted';
CREATE INDEX run_events_stops ON run_events (at)
    WHERE type IN ('run_interrupted', 'guardrail_stop');
CREATE INDEX step_plans_voided ON step_plans (voided_at) WHERE voided_at IS NOT NULL;
