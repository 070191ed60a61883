-- Runs, their steps, parts, items, calls, issues and events.
CREATE TABLE runs (
    id uuid PRIMARY KEY,
    document_id uuid NOT NULL REFERENCES documents ON DELETE CASCADE,
    kind text NOT NULL,
    kind_version text NOT NULL,
    status text NOT NULL,
    epoch integer NOT NULL DEFAULT 1,
    stage text NOT NULL,
    reason_code text,
    reason_params jsonb NOT NULL DEFAULT '{}',
    guardrail text,
    outcome text,
    base_revision integer,
    working_revision integer,
    best_revision integer,
    offered_revision integer,
    current_round integer NOT NULL DEFAULT 0,
    pending_review_step uuid,
    compare_from_round integer NOT NULL DEFAULT 0,
    baseline_revision integer NOT NULL DEFAULT 0,
    max_rounds integer NOT NULL,
    pass_score integer NOT NULL,
    score integer,
    limits jsonb NOT NULL DEFAULT '{}',
    profile text NOT NULL,
    instructions text,
    tags text[] NOT NULL DEFAULT '{}',
    event_seq bigint NOT NULL DEFAULT 0,
    move_seq bigint NOT NULL DEFAULT 0,
    signalled_seq bigint NOT NULL DEFAULT 0,
    owner_worker text,
    queued_at timestamptz,
    retry_at timestamptz,
    last_error_code text,
    failing_since timestamptz,
    failures integer NOT NULL DEFAULT 0,
    woken integer NOT NULL DEFAULT 0,
    last_progress_at timestamptz NOT NULL DEFAULT now(),
    calls integer NOT NULL DEFAULT 0,
    tokens_input bigint NOT NULL DEFAULT 0,
    tokens_output bigint NOT NULL DEFAULT 0,
    tokens_cached bigint NOT NULL DEFAULT 0,
    tokens_reasoning bigint NOT NULL DEFAULT 0,
    cost numeric(18, 9),
    currency text,
    cost_is_estimate boolean NOT NULL DEFAULT false,
    running_since timestamptz DEFAULT now(),
    seconds_running double precision NOT NULL DEFAULT 0,
    confirm_by timestamptz,
    webhook_url text,
    actor text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    started_at timestamptz,
    ended_at timestamptz,
    CHECK (status IN ('RUNNING', 'INTERRUPTED', 'AWAITING_CONFIRMATION', 'CONFIRMED', 'REJECTED',
                      'FAILED', 'CANCELLED')),
    CHECK ((ended_at IS NOT NULL) = (status IN ('CONFIRMED', 'REJECTED', 'FAILED', 'CANCELLED'))),
    CHECK ((running_since IS NOT NULL) = (status = 'RUNNING')),
    CHECK (status <> 'RUNNING' OR reason_code IS NULL),
    CHECK (status <> 'AWAITING_CONFIRMATION' OR offered_revision IS NOT NULL),
    CHECK (signalled_seq <= event_seq AND move_seq <= event_seq)
) WITH (fillfactor = 70);
COMMENT ON COLUMN runs.epoch IS 'Grows by one with every move into RUNNING; older work is stale.';
COMMENT ON COLUMN runs.outcome IS
    'Set when nothing is left to do (passed, round_limit, no_progress); what conclude moves on.';
COMMENT ON COLUMN runs.current_round IS 'Reviews done (voided ones stay counted).';
COMMENT ON COLUMN runs.pending_review_step IS 'The review whose refine is not stored yet.';
COMMENT ON COLUMN runs.compare_from_round IS
    'No-progress looks only at rounds after this one; rework and a person''s edit move it.';
COMMENT ON COLUMN runs.baseline_revision IS
    'Best is chosen among revisions from this one on: a person''s text is a new baseline.';
COMMENT ON COLUMN runs.event_seq IS 'Taken under the row lock with the change it tells of.';
COMMENT ON COLUMN runs.move_seq IS 'Event seq of the last move a person made through the API.';
COMMENT ON COLUMN runs.signalled_seq IS 'A signal is due while move_seq is larger than this.';
COMMENT ON COLUMN runs.owner_worker IS
    'Worker whose claim inserted the last step; only it, take-over and the reaper clear it.';
COMMENT ON COLUMN runs.failures IS 'Provider errors in a row; anything received sets it to 0.';
COMMENT ON COLUMN runs.woken IS 'Times the sweep woke this run since it last made progress.';
COMMENT ON COLUMN runs.running_since IS
    'Start of the present stretch in RUNNING; earlier ones are summed in seconds_running.';
CREATE UNIQUE INDEX runs_one_active ON runs (document_id)
    WHERE status IN ('RUNNING', 'INTERRUPTED', 'AWAITING_CONFIRMATION');
CREATE INDEX runs_newest ON runs (created_at DESC, id DESC);
CREATE INDEX runs_by_status ON runs (status, created_at DESC, id DESC);
CREATE INDEX runs_by_document ON runs (document_id, created_at DESC);
CREATE INDEX runs_due ON runs (id) WHERE move_seq > signalled_seq;
CREATE INDEX runs_running ON runs (created_at) WHERE status = 'RUNNING';
CREATE INDEX runs_owned ON runs (owner_worker) WHERE owner_worker IS NOT NULL;
CREATE INDEX runs_tags ON runs USING gin (tags);

CREATE FUNCTION runs_guard_move() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF (OLD.status || '>' || NEW.status) NOT IN (
        'RUNNING>INTERRUPTED',
        'RUNNING>AWAITING_CONFIRMATION',
        'RUNNING>FAILED',
        'INTERRUPTED>RUNNING',
        'FAILED>RUNNING',
        'AWAITING_CONFIRMATION>CONFIRMED',
        'AWAITING_CONFIRMATION>REJECTED',
        'AWAITING_CONFIRMATION>RUNNING',
        'RUNNING>CANCELLED',
        'INTERRUPTED>CANCELLED',
        'FAILED>CANCELLED',
        'AWAITING_CONFIRMATION>CANCELLED'
    ) THEN
        RAISE EXCEPTION 'run %: no move from % to %', OLD.id, OLD.status, NEW.status
            USING ERRCODE = 'check_violation';
    END IF;
    IF NEW.epoch <> OLD.epoch + (NEW.status = 'RUNNING')::int THEN
        RAISE EXCEPTION 'run %: epoch grows by one exactly with a move into RUNNING', OLD.id
            USING ERRCODE = 'check_violation';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER runs_guard_move BEFORE UPDATE OF status ON runs FOR EACH ROW
    WHEN (OLD.status IS DISTINCT FROM NEW.status) EXECUTE FUNCTION runs_guard_move();

CREATE TABLE step_plans (
    id uuid PRIMARY KEY,
    run_id uuid NOT NULL REFERENCES runs ON DELETE CASCADE,
    round integer NOT NULL,
    name text NOT NULL,
    input_revision integer,
    voided_at timestamptz,
    created_at timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE step_plans IS
    'What a step consists of, frozen by the first claim and kept until the step is done.';
CREATE UNIQUE INDEX step_plans_in_force ON step_plans (run_id, round, name)
    WHERE voided_at IS NULL;

CREATE TABLE step_parts (
    plan_id uuid NOT NULL REFERENCES step_plans ON DELETE CASCADE,
    part text NOT NULL,
    key text NOT NULL,
    position integer NOT NULL,
    spec jsonb NOT NULL DEFAULT '{}',
    calls integer NOT NULL DEFAULT 0,
    early_ends integer NOT NULL DEFAULT 0,
    barren integer NOT NULL DEFAULT 0,
    reply_hashes text[] NOT NULL DEFAULT '{}',
    result jsonb,
    done_at timestamptz,
    PRIMARY KEY (plan_id, part)
);
COMMENT ON COLUMN step_parts.calls IS
    'Calls that count against the cap; an override of a guardrail sets the counters back to 0.';
COMMENT ON COLUMN step_parts.barren IS 'Calls in a row that added no item.';

CREATE TABLE steps (
    id uuid PRIMARY KEY,
    run_id uuid NOT NULL REFERENCES runs ON DELETE CASCADE,
    plan_id uuid NOT NULL REFERENCES step_plans ON DELETE CASCADE,
    epoch integer NOT NULL,
    seq integer NOT NULL,
    name text NOT NULL,
    round integer NOT NULL,
    attempt integer NOT NULL,
    status text NOT NULL,
    reason_code text,
    reason_params jsonb NOT NULL DEFAULT '{}',
    input_revision integer,
    output_revision integer,
    score integer,
    result jsonb,
    worker text NOT NULL,
    queued_at timestamptz NOT NULL DEFAULT now(),
    started_at timestamptz NOT NULL DEFAULT now(),
    ended_at timestamptz,
    CHECK (status IN ('RUNNING', 'SUCCEEDED', 'FAILED')),
    CHECK ((ended_at IS NOT NULL) = (status <> 'RUNNING')),
    CHECK ((reason_code IS NOT NULL) = (status = 'FAILED'))
);
CREATE UNIQUE INDEX steps_seq ON steps (run_id, seq);
CREATE UNIQUE INDEX steps_one_running ON steps (run_id) WHERE status = 'RUNNING';
CREATE UNIQUE INDEX steps_attempt ON steps (run_id, round, name, attempt);

CREATE TABLE model_calls (
    id uuid PRIMARY KEY,
    run_id uuid NOT NULL REFERENCES runs ON DELETE CASCADE,
    step_id uuid NOT NULL REFERENCES steps ON DELETE CASCADE,
    plan_id uuid NOT NULL REFERENCES step_plans ON DELETE CASCADE,
    step_name text NOT NULL,
    round integer NOT NULL,
    part text NOT NULL,
    number integer NOT NULL,
    status text NOT NULL,
    finish_reason text,
    end_cause text,
    model text NOT NULL,
    profile text NOT NULL,
    profile_version integer NOT NULL,
    kind_version text NOT NULL,
    tokens_input bigint,
    tokens_output bigint,
    tokens_cached bigint,
    tokens_reasoning bigint,
    usage_source text NOT NULL DEFAULT 'unknown',
    cost numeric(18, 9),
    currency text,
    reserved_tokens bigint NOT NULL DEFAULT 0,
    reserved_cost numeric(18, 9),
    prompt_hash text NOT NULL,
    provider_request_id text,
    provider_response_id text,
    http_status integer,
    error text,
    first_token_ms integer,
    items_kept integer NOT NULL DEFAULT 0,
    items_dropped integer NOT NULL DEFAULT 0,
    partial_text text,
    partial_length integer NOT NULL DEFAULT 0,
    started_at timestamptz NOT NULL DEFAULT now(),
    ended_at timestamptz,
    CHECK (status IN ('STARTED', 'SUCCEEDED', 'FAILED', 'CANCELLED', 'LOST')),
    CHECK ((ended_at IS NOT NULL) = (status <> 'STARTED')),
    CHECK (usage_source IN ('reported', 'estimated', 'unknown'))
) WITH (fillfactor = 70);
CREATE UNIQUE INDEX model_calls_number ON model_calls (run_id, round, step_name, part, number);
CREATE INDEX model_calls_step ON model_calls (step_id);
CREATE INDEX model_calls_newest ON model_calls (started_at DESC, id DESC);
CREATE INDEX model_calls_open ON model_calls (run_id) WHERE status = 'STARTED';

CREATE TABLE model_call_bodies (
    call_id uuid PRIMARY KEY REFERENCES model_calls ON DELETE CASCADE,
    reply text,
    recipe jsonb NOT NULL,
    expires_at timestamptz,
    created_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE step_items (
    id uuid PRIMARY KEY,
    plan_id uuid NOT NULL REFERENCES step_plans ON DELETE CASCADE,
    part text NOT NULL,
    key text NOT NULL,
    position integer NOT NULL,
    payload jsonb NOT NULL,
    step_id uuid NOT NULL REFERENCES steps ON DELETE CASCADE,
    call_id uuid NOT NULL REFERENCES model_calls ON DELETE CASCADE,
    created_at timestamptz NOT NULL DEFAULT now(),
    UNIQUE (plan_id, part, key)
);

CREATE TABLE issues (
    id uuid PRIMARY KEY,
    run_id uuid NOT NULL REFERENCES runs ON DELETE CASCADE,
    number integer NOT NULL,
    fingerprint text NOT NULL,
    category text NOT NULL,
    severity text NOT NULL,
    quote text NOT NULL,
    problem text NOT NULL,
    suggestion text,
    evidence jsonb NOT NULL DEFAULT '[]',
    raised_by text NOT NULL,
    raised_round integer NOT NULL,
    seen_round integer NOT NULL,
    revision integer NOT NULL,
    status text NOT NULL,
    fixed_round integer,
    waived_by text,
    waived_reason text,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    CHECK (severity IN ('blocker', 'major', 'minor')),
    CHECK (status IN ('open', 'fixed', 'reopened', 'waived')),
    UNIQUE (run_id, number),
    UNIQUE (run_id, fingerprint)
);
COMMENT ON COLUMN issues.seen_round IS 'Last round whose review found it.';

CREATE TABLE assessments (
    run_id uuid NOT NULL REFERENCES runs ON DELETE CASCADE,
    revision integer NOT NULL,
    blockers integer NOT NULL,
    majors integer NOT NULL,
    minors integer NOT NULL,
    score integer NOT NULL,
    reviewed boolean NOT NULL,
    updated_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (run_id, revision)
);
COMMENT ON TABLE assessments IS
    'How each revision stands; one nobody reviewed is ranked by carried-over issues and verifiers.';

CREATE TABLE run_events (
    run_id uuid NOT NULL REFERENCES runs ON DELETE CASCADE,
    seq bigint NOT NULL,
    type text NOT NULL,
    actor text NOT NULL,
    request_id text,
    data jsonb NOT NULL DEFAULT '{}',
    at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (run_id, seq)
);
COMMENT ON COLUMN run_events.data IS 'Codes and parameters, never sentences, never content.';
