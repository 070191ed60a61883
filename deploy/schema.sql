CREATE EXTENSION IF NOT EXISTS pg_trgm WITH SCHEMA public;

COMMENT ON EXTENSION pg_trgm IS 'text similarity measurement and index searching based on trigrams';

CREATE FUNCTION public.count_run() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
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

CREATE FUNCTION public.runs_guard_move() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
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

CREATE FUNCTION public.unsum_call() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    PERFORM pg_advisory_xact_lock_shared(hashtext('redraft sums'));
    DELETE FROM summed
        WHERE what = 'calls/2' AND at = date_trunc('hour', OLD.ended_at, 'UTC');
    RETURN NULL;
END $$;

CREATE FUNCTION public.unsum_run() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    PERFORM pg_advisory_xact_lock_shared(hashtext('redraft sums'));
    DELETE FROM summed m USING steps s
        WHERE m.what = 'steps' AND s.run_id = OLD.id
          AND m.at = date_bin('6 hours', s.ended_at, '1970-01-01Z');
    RETURN NULL;
END $$;

CREATE FUNCTION public.unsum_step() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    PERFORM pg_advisory_xact_lock_shared(hashtext('redraft sums'));
    DELETE FROM summed
        WHERE what = 'steps' AND at = date_bin('6 hours', OLD.ended_at, '1970-01-01Z');
    RETURN NULL;
END $$;

CREATE TABLE public.alembic_version (
    version_num character varying(32) NOT NULL
);

CREATE TABLE public.api_keys (
    id uuid NOT NULL,
    principal text NOT NULL,
    name text NOT NULL,
    prefix text NOT NULL,
    hash text NOT NULL,
    scopes text[] DEFAULT '{}'::text[] NOT NULL,
    last_used_at timestamp with time zone,
    revoked_at timestamp with time zone,
    expires_at timestamp with time zone,
    created_at timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE public.assessments (
    run_id uuid NOT NULL,
    revision integer NOT NULL,
    blockers integer NOT NULL,
    majors integer NOT NULL,
    minors integer NOT NULL,
    score integer NOT NULL,
    reviewed boolean NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL
);

COMMENT ON TABLE public.assessments IS 'How each revision stands; one nobody reviewed is ranked by carried-over issues and verifiers.';

CREATE TABLE public.audit_events (
    id uuid NOT NULL,
    at timestamp with time zone DEFAULT now() NOT NULL,
    actor text NOT NULL,
    action text NOT NULL,
    object_type text NOT NULL,
    object_id text NOT NULL,
    request_id text,
    params jsonb DEFAULT '{}'::jsonb NOT NULL
);

COMMENT ON TABLE public.audit_events IS 'No foreign key and no content: it survives deletion.';

CREATE TABLE public.blob_deletions (
    id uuid NOT NULL,
    what text NOT NULL,
    uri text NOT NULL,
    profile text,
    attempts integer DEFAULT 0 NOT NULL,
    last_error text,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT blob_deletions_what_check CHECK ((what = ANY (ARRAY['blob'::text, 'response'::text])))
);

COMMENT ON TABLE public.blob_deletions IS 'Outbox of what lives outside: files and provider responses of deleted documents.';

CREATE TABLE public.blobs (
    id uuid NOT NULL,
    document_id uuid NOT NULL,
    uri text NOT NULL,
    name text NOT NULL,
    media_type text NOT NULL,
    bytes bigint NOT NULL,
    sha256 text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE public.calls_by_hour (
    at timestamp with time zone NOT NULL,
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
    unpriced bigint NOT NULL
);

CREATE TABLE public.comments (
    id uuid NOT NULL,
    document_id uuid NOT NULL,
    run_id uuid,
    revision integer,
    quote text,
    text text NOT NULL,
    actor text NOT NULL,
    resolved_at timestamp with time zone,
    created_at timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE public.decisions (
    id uuid NOT NULL,
    document_id uuid NOT NULL,
    run_id uuid,
    revision integer NOT NULL,
    change jsonb NOT NULL,
    accept boolean NOT NULL,
    text text,
    actor text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE public.documents (
    id uuid NOT NULL,
    kind text NOT NULL,
    title text NOT NULL,
    language text,
    attributes jsonb DEFAULT '{}'::jsonb NOT NULL,
    tags text[] DEFAULT '{}'::text[] NOT NULL,
    revision_seq integer DEFAULT '-1'::integer NOT NULL,
    actor text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL
);

COMMENT ON COLUMN public.documents.revision_seq IS 'Highest revision number given out; a number is taken under the row lock and never reused.';

CREATE TABLE public.idempotency_keys (
    principal text NOT NULL,
    method text NOT NULL,
    path text NOT NULL,
    key text NOT NULL,
    request_hash text NOT NULL,
    status integer NOT NULL,
    headers jsonb DEFAULT '{}'::jsonb NOT NULL,
    body jsonb,
    document_id uuid,
    created_at timestamp with time zone DEFAULT now() NOT NULL
);

COMMENT ON COLUMN public.idempotency_keys.body IS 'The answer as sent; emptied when its document is deleted, and the replay is then 404.';

CREATE TABLE public.issues (
    id uuid NOT NULL,
    run_id uuid NOT NULL,
    number integer NOT NULL,
    fingerprint text NOT NULL,
    category text NOT NULL,
    severity text NOT NULL,
    quote text NOT NULL,
    problem text NOT NULL,
    suggestion text,
    evidence jsonb DEFAULT '[]'::jsonb NOT NULL,
    raised_by text NOT NULL,
    raised_round integer NOT NULL,
    seen_round integer NOT NULL,
    revision integer NOT NULL,
    status text NOT NULL,
    fixed_round integer,
    waived_by text,
    waived_reason text,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT issues_severity_check CHECK ((severity = ANY (ARRAY['blocker'::text, 'major'::text, 'minor'::text]))),
    CONSTRAINT issues_status_check CHECK ((status = ANY (ARRAY['open'::text, 'fixed'::text, 'reopened'::text, 'waived'::text])))
);

COMMENT ON COLUMN public.issues.seen_round IS 'Last round whose review found it.';

CREATE TABLE public.locks (
    id uuid NOT NULL,
    document_id uuid NOT NULL,
    quote text NOT NULL,
    actor text NOT NULL,
    removed_at timestamp with time zone,
    created_at timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE public.model_call_bodies (
    call_id uuid NOT NULL,
    reply text,
    recipe jsonb NOT NULL,
    expires_at timestamp with time zone,
    created_at timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE public.model_calls (
    id uuid NOT NULL,
    run_id uuid NOT NULL,
    step_id uuid NOT NULL,
    plan_id uuid NOT NULL,
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
    usage_source text DEFAULT 'unknown'::text NOT NULL,
    cost numeric(18,9),
    currency text,
    reserved_tokens bigint DEFAULT 0 NOT NULL,
    reserved_cost numeric(18,9),
    prompt_hash text NOT NULL,
    provider_request_id text,
    provider_response_id text,
    http_status integer,
    error text,
    first_token_ms integer,
    items_kept integer DEFAULT 0 NOT NULL,
    items_dropped integer DEFAULT 0 NOT NULL,
    partial_text text,
    partial_length integer DEFAULT 0 NOT NULL,
    started_at timestamp with time zone DEFAULT now() NOT NULL,
    ended_at timestamp with time zone,
    estimated_input bigint,
    estimated_output bigint,
    wide boolean,
    manner text,
    CONSTRAINT model_calls_check CHECK (((ended_at IS NOT NULL) = (status <> 'STARTED'::text))),
    CONSTRAINT model_calls_status_check CHECK ((status = ANY (ARRAY['STARTED'::text, 'SUCCEEDED'::text, 'FAILED'::text, 'CANCELLED'::text, 'LOST'::text]))),
    CONSTRAINT model_calls_usage_source_check CHECK ((usage_source = ANY (ARRAY['reported'::text, 'estimated'::text, 'unknown'::text])))
)
WITH (fillfactor='70');

COMMENT ON COLUMN public.model_calls.estimated_input IS 'Tokens of the prompt by our own tokenizer: beside reported ones they teach a profile''s ratio.';

COMMENT ON COLUMN public.model_calls.wide IS 'Whether much of the prompt is in a script without spaces: those are learned apart.';

COMMENT ON COLUMN public.model_calls.manner IS 'How the request was asked: format of replies, field of the limit, whether usage was asked for.';

CREATE TABLE public.principals (
    name text NOT NULL,
    kind text NOT NULL,
    roles text[] DEFAULT '{}'::text[] NOT NULL,
    disabled_at timestamp with time zone,
    created_at timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE public.profiles (
    name text NOT NULL,
    version integer NOT NULL,
    model text NOT NULL,
    base_url text,
    key_env text DEFAULT 'OPENAI_API_KEY'::text NOT NULL,
    parameters jsonb DEFAULT '{}'::jsonb NOT NULL,
    prices jsonb,
    prompts jsonb DEFAULT '{}'::jsonb NOT NULL,
    fallback jsonb,
    rate_limits jsonb DEFAULT '{}'::jsonb NOT NULL,
    actor text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL
);

COMMENT ON COLUMN public.profiles.key_env IS 'Name of the environment variable; never the key.';

CREATE TABLE public.rate_buckets (
    profile text NOT NULL,
    unit text NOT NULL,
    level double precision NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE public.review_drafts (
    document_id uuid NOT NULL,
    principal text NOT NULL,
    base_revision integer NOT NULL,
    body text,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    version integer DEFAULT 1 NOT NULL,
    notes jsonb DEFAULT '{}'::jsonb NOT NULL,
    dropped_at timestamp with time zone
);

COMMENT ON COLUMN public.review_drafts.body IS 'null: the text is not edited, only noted.';

COMMENT ON COLUMN public.review_drafts.version IS 'Grows by one with every save; a save names the one it was made from.';

COMMENT ON COLUMN public.review_drafts.dropped_at IS 'When it was sent or thrown away: empty since, and no draft; only its version counts on.';

CREATE TABLE public.revisions (
    document_id uuid NOT NULL,
    number integer NOT NULL,
    body text NOT NULL,
    sha256 text NOT NULL,
    base integer,
    author text NOT NULL,
    run_id uuid,
    step_id uuid,
    round integer,
    comment text,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    original_id uuid,
    CONSTRAINT revisions_check CHECK (((author = 'run'::text) = (step_id IS NOT NULL))),
    CONSTRAINT revisions_number_check CHECK ((number >= 0))
);

COMMENT ON COLUMN public.revisions.author IS 'run, or the name of the person.';

COMMENT ON COLUMN public.revisions.original_id IS 'The uploaded file that revision 0 was read from, byte for byte.';

CREATE TABLE public.run_counts (
    kind text NOT NULL,
    actor text NOT NULL,
    status text NOT NULL,
    number bigint NOT NULL
);

COMMENT ON TABLE public.run_counts IS 'Several rows may have one key: their sum counts. The API adds them up to one now and then.';

CREATE TABLE public.run_events (
    run_id uuid NOT NULL,
    seq bigint NOT NULL,
    type text NOT NULL,
    actor text NOT NULL,
    request_id text,
    data jsonb DEFAULT '{}'::jsonb NOT NULL,
    at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);

COMMENT ON COLUMN public.run_events.data IS 'Codes and parameters, never sentences, never content.';

CREATE TABLE public.runs (
    id uuid NOT NULL,
    document_id uuid NOT NULL,
    kind text NOT NULL,
    kind_version text NOT NULL,
    status text NOT NULL,
    epoch integer DEFAULT 1 NOT NULL,
    stage text NOT NULL,
    reason_code text,
    reason_params jsonb DEFAULT '{}'::jsonb NOT NULL,
    guardrail text,
    outcome text,
    base_revision integer,
    working_revision integer,
    best_revision integer,
    offered_revision integer,
    current_round integer DEFAULT 0 NOT NULL,
    pending_review_step uuid,
    compare_from_round integer DEFAULT 0 NOT NULL,
    baseline_revision integer DEFAULT 0 NOT NULL,
    max_rounds integer NOT NULL,
    pass_score integer NOT NULL,
    score integer,
    limits jsonb DEFAULT '{}'::jsonb NOT NULL,
    profile text NOT NULL,
    instructions text,
    tags text[] DEFAULT '{}'::text[] NOT NULL,
    event_seq bigint DEFAULT 0 NOT NULL,
    move_seq bigint DEFAULT 0 NOT NULL,
    signalled_seq bigint DEFAULT 0 NOT NULL,
    owner_worker text,
    queued_at timestamp with time zone,
    retry_at timestamp with time zone,
    last_error_code text,
    failing_since timestamp with time zone,
    failures integer DEFAULT 0 NOT NULL,
    woken integer DEFAULT 0 NOT NULL,
    last_progress_at timestamp with time zone DEFAULT now() NOT NULL,
    calls integer DEFAULT 0 NOT NULL,
    tokens_input bigint DEFAULT 0 NOT NULL,
    tokens_output bigint DEFAULT 0 NOT NULL,
    tokens_cached bigint DEFAULT 0 NOT NULL,
    tokens_reasoning bigint DEFAULT 0 NOT NULL,
    cost numeric(18,9),
    currency text,
    cost_is_estimate boolean DEFAULT false NOT NULL,
    running_since timestamp with time zone DEFAULT now(),
    seconds_running double precision DEFAULT 0 NOT NULL,
    confirm_by timestamp with time zone,
    webhook_url text,
    actor text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    started_at timestamp with time zone,
    ended_at timestamp with time zone,
    warned jsonb DEFAULT '{}'::jsonb NOT NULL,
    unheard_source uuid,
    templates jsonb,
    CONSTRAINT runs_check CHECK (((ended_at IS NOT NULL) = (status = ANY (ARRAY['CONFIRMED'::text, 'REJECTED'::text, 'FAILED'::text, 'CANCELLED'::text])))),
    CONSTRAINT runs_check1 CHECK (((running_since IS NOT NULL) = (status = 'RUNNING'::text))),
    CONSTRAINT runs_check2 CHECK (((status <> 'RUNNING'::text) OR (reason_code IS NULL))),
    CONSTRAINT runs_check3 CHECK (((status <> 'AWAITING_CONFIRMATION'::text) OR (offered_revision IS NOT NULL))),
    CONSTRAINT runs_check4 CHECK (((signalled_seq <= event_seq) AND (move_seq <= event_seq))),
    CONSTRAINT runs_status_check CHECK ((status = ANY (ARRAY['RUNNING'::text, 'INTERRUPTED'::text, 'AWAITING_CONFIRMATION'::text, 'CONFIRMED'::text, 'REJECTED'::text, 'FAILED'::text, 'CANCELLED'::text])))
)
WITH (fillfactor='70');

COMMENT ON COLUMN public.runs.epoch IS 'Grows by one with every move into RUNNING; older work is stale.';

COMMENT ON COLUMN public.runs.outcome IS 'Set when nothing is left to do (passed, round_limit, no_progress); what conclude moves on.';

COMMENT ON COLUMN public.runs.current_round IS 'Reviews done (voided ones stay counted).';

COMMENT ON COLUMN public.runs.pending_review_step IS 'The review whose refine is not stored yet.';

COMMENT ON COLUMN public.runs.compare_from_round IS 'No-progress looks only at rounds after this one; rework and a person''s edit move it.';

COMMENT ON COLUMN public.runs.baseline_revision IS 'Best is chosen among revisions from this one on: a person''s text is a new baseline.';

COMMENT ON COLUMN public.runs.event_seq IS 'Taken under the row lock with the change it tells of.';

COMMENT ON COLUMN public.runs.move_seq IS 'Event seq of the last move a person made through the API.';

COMMENT ON COLUMN public.runs.signalled_seq IS 'A signal is due while move_seq is larger than this.';

COMMENT ON COLUMN public.runs.owner_worker IS 'Worker whose claim inserted the last step; only it, take-over and the reaper clear it.';

COMMENT ON COLUMN public.runs.failures IS 'Provider errors in a row; anything received sets it to 0.';

COMMENT ON COLUMN public.runs.woken IS 'Times the sweep woke this run since it last made progress.';

COMMENT ON COLUMN public.runs.cost IS 'Of all calls that ended; null where one has no known price, or amounts are in several currencies.';

COMMENT ON COLUMN public.runs.currency IS 'Of what was paid; null where that is in several currencies.';

COMMENT ON COLUMN public.runs.running_since IS 'Start of the present stretch in RUNNING; earlier ones are summed in seconds_running.';

COMMENT ON COLUMN public.runs.warned IS 'Limits that were told to be near, with the value they had: once for each value.';

COMMENT ON COLUMN public.runs.unheard_source IS 'The source whose recording has no transcript yet: the run begins, or goes on, with transcribe.';

COMMENT ON COLUMN public.runs.templates IS 'Of the first draft, as they were when the run was created. Null: none, or those there are.';

CREATE TABLE public.sessions (
    token_hash text NOT NULL,
    principal text NOT NULL,
    csrf_hash text NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE public.sources (
    id uuid NOT NULL,
    document_id uuid NOT NULL,
    name text NOT NULL,
    media_type text NOT NULL,
    version integer DEFAULT 1 NOT NULL,
    replaces uuid,
    replaced_by uuid,
    text text NOT NULL,
    sha256 text NOT NULL,
    blob_id uuid,
    "position" integer NOT NULL,
    actor text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    original_id uuid
);

COMMENT ON COLUMN public.sources.replaced_by IS 'Null for the version in force; a correction is a new row and the old one keeps its text.';

COMMENT ON COLUMN public.sources.original_id IS 'The uploaded file, byte for byte; null where the text came as text.';

CREATE TABLE public.step_items (
    id uuid NOT NULL,
    plan_id uuid NOT NULL,
    part text NOT NULL,
    key text NOT NULL,
    "position" integer NOT NULL,
    payload jsonb NOT NULL,
    step_id uuid NOT NULL,
    call_id uuid NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE public.step_parts (
    plan_id uuid NOT NULL,
    part text NOT NULL,
    key text NOT NULL,
    "position" integer NOT NULL,
    spec jsonb DEFAULT '{}'::jsonb NOT NULL,
    calls integer DEFAULT 0 NOT NULL,
    early_ends integer DEFAULT 0 NOT NULL,
    barren integer DEFAULT 0 NOT NULL,
    reply_hashes text[] DEFAULT '{}'::text[] NOT NULL,
    result jsonb,
    done_at timestamp with time zone,
    stop text
);

COMMENT ON COLUMN public.step_parts.calls IS 'Calls that count against the cap; an override of a guardrail sets the counters back to 0.';

COMMENT ON COLUMN public.step_parts.barren IS 'Calls in a row that added no item.';

COMMENT ON COLUMN public.step_parts.stop IS 'Guardrail that stopped this part: no further call of it until a person overrides that stop.';

CREATE TABLE public.step_plans (
    id uuid NOT NULL,
    run_id uuid NOT NULL,
    round integer NOT NULL,
    name text NOT NULL,
    input_revision integer,
    voided_at timestamp with time zone,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    recut boolean DEFAULT false NOT NULL,
    sources uuid[]
);

COMMENT ON TABLE public.step_plans IS 'What a step consists of, frozen by the first claim and kept until the step is done.';

COMMENT ON COLUMN public.step_plans.recut IS 'A part did not fit the model: the next claim cuts open parts smaller, as the profile then says.';

COMMENT ON COLUMN public.step_plans.sources IS 'Source versions that the parts cover, in order. Null: planned before this was kept; those in force.';

CREATE TABLE public.steps (
    id uuid NOT NULL,
    run_id uuid NOT NULL,
    plan_id uuid NOT NULL,
    epoch integer NOT NULL,
    seq integer NOT NULL,
    name text NOT NULL,
    round integer NOT NULL,
    attempt integer NOT NULL,
    status text NOT NULL,
    reason_code text,
    reason_params jsonb DEFAULT '{}'::jsonb NOT NULL,
    input_revision integer,
    output_revision integer,
    score integer,
    result jsonb,
    worker text NOT NULL,
    queued_at timestamp with time zone DEFAULT now() NOT NULL,
    started_at timestamp with time zone DEFAULT now() NOT NULL,
    ended_at timestamp with time zone,
    CONSTRAINT steps_check CHECK (((ended_at IS NOT NULL) = (status <> 'RUNNING'::text))),
    CONSTRAINT steps_check1 CHECK (((reason_code IS NOT NULL) = (status = 'FAILED'::text))),
    CONSTRAINT steps_status_check CHECK ((status = ANY (ARRAY['RUNNING'::text, 'SUCCEEDED'::text, 'FAILED'::text])))
);

CREATE TABLE public.steps_by_quarter (
    at timestamp with time zone NOT NULL,
    kind text,
    profile text,
    name text NOT NULL,
    measure text NOT NULL,
    bucket smallint NOT NULL,
    steps bigint NOT NULL,
    CONSTRAINT steps_by_quarter_measure_check CHECK ((measure = ANY (ARRAY['took'::text, 'waited'::text])))
);

COMMENT ON TABLE public.steps_by_quarter IS 'Of six hours each; rows without kind and profile are of all of them together.';

COMMENT ON COLUMN public.steps_by_quarter.bucket IS 'Of milliseconds: 0 up to 1, n up to 1.05 to the power of n.';

CREATE TABLE public.summed (
    what text NOT NULL,
    at timestamp with time zone NOT NULL,
    CONSTRAINT summed_what_check CHECK ((what = ANY (ARRAY['calls/2'::text, 'steps'::text])))
);

COMMENT ON TABLE public.summed IS 'Hours of calls and quarters of days of steps (UTC) whose sums equal the rows; others are read anew.';

CREATE TABLE public.switches (
    name text NOT NULL,
    value jsonb NOT NULL,
    note text,
    actor text NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE public.webhook_deliveries (
    id uuid NOT NULL,
    run_id uuid NOT NULL,
    event_seq bigint NOT NULL,
    url text NOT NULL,
    status text NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    next_at timestamp with time zone,
    last_http_status integer,
    last_error text,
    delivered_at timestamp with time zone,
    created_at timestamp with time zone DEFAULT now() NOT NULL
);

CREATE UNLOGGED TABLE public.workers (
    id text NOT NULL,
    machine text NOT NULL,
    boot text NOT NULL,
    pid_ns text NOT NULL,
    pid integer NOT NULL,
    started double precision NOT NULL,
    lock_key bigint NOT NULL,
    postmaster_started timestamp with time zone NOT NULL,
    in_flight uuid[] DEFAULT '{}'::uuid[] NOT NULL,
    build text,
    slots integer DEFAULT 0 NOT NULL,
    registered_at timestamp with time zone DEFAULT now() NOT NULL,
    seen_at timestamp with time zone DEFAULT now() NOT NULL,
    goodbye_at timestamp with time zone
);

COMMENT ON TABLE public.workers IS 'UNLOGGED: emptied by a crash of Postgres, so a missing row proves nothing by itself.';

ALTER TABLE ONLY public.alembic_version
    ADD CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num);

ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT api_keys_hash_key UNIQUE (hash);

ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT api_keys_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.assessments
    ADD CONSTRAINT assessments_pkey PRIMARY KEY (run_id, revision);

ALTER TABLE ONLY public.audit_events
    ADD CONSTRAINT audit_events_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.blob_deletions
    ADD CONSTRAINT blob_deletions_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.blobs
    ADD CONSTRAINT blobs_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.calls_by_hour
    ADD CONSTRAINT calls_by_hour_at_kind_profile_model_currency_fate_key UNIQUE NULLS NOT DISTINCT (at, kind, profile, model, currency, fate);

ALTER TABLE ONLY public.comments
    ADD CONSTRAINT comments_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.decisions
    ADD CONSTRAINT decisions_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.documents
    ADD CONSTRAINT documents_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.idempotency_keys
    ADD CONSTRAINT idempotency_keys_pkey PRIMARY KEY (principal, method, path, key);

ALTER TABLE ONLY public.issues
    ADD CONSTRAINT issues_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.issues
    ADD CONSTRAINT issues_run_id_fingerprint_key UNIQUE (run_id, fingerprint);

ALTER TABLE ONLY public.issues
    ADD CONSTRAINT issues_run_id_number_key UNIQUE (run_id, number);

ALTER TABLE ONLY public.locks
    ADD CONSTRAINT locks_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.model_call_bodies
    ADD CONSTRAINT model_call_bodies_pkey PRIMARY KEY (call_id);

ALTER TABLE ONLY public.model_calls
    ADD CONSTRAINT model_calls_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.principals
    ADD CONSTRAINT principals_pkey PRIMARY KEY (name);

ALTER TABLE ONLY public.profiles
    ADD CONSTRAINT profiles_pkey PRIMARY KEY (name, version);

ALTER TABLE ONLY public.rate_buckets
    ADD CONSTRAINT rate_buckets_pkey PRIMARY KEY (profile, unit);

ALTER TABLE ONLY public.review_drafts
    ADD CONSTRAINT review_drafts_pkey PRIMARY KEY (document_id, principal);

ALTER TABLE ONLY public.revisions
    ADD CONSTRAINT revisions_pkey PRIMARY KEY (document_id, number);

ALTER TABLE ONLY public.run_events
    ADD CONSTRAINT run_events_pkey PRIMARY KEY (run_id, seq);

ALTER TABLE ONLY public.runs
    ADD CONSTRAINT runs_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.sessions
    ADD CONSTRAINT sessions_pkey PRIMARY KEY (token_hash);

ALTER TABLE ONLY public.sources
    ADD CONSTRAINT sources_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.step_items
    ADD CONSTRAINT step_items_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.step_items
    ADD CONSTRAINT step_items_plan_id_part_key_key UNIQUE (plan_id, part, key);

ALTER TABLE ONLY public.step_parts
    ADD CONSTRAINT step_parts_pkey PRIMARY KEY (plan_id, part);

ALTER TABLE ONLY public.step_plans
    ADD CONSTRAINT step_plans_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.steps_by_quarter
    ADD CONSTRAINT steps_by_quarter_at_kind_profile_name_measure_bucket_key UNIQUE NULLS NOT DISTINCT (at, kind, profile, name, measure, bucket);

ALTER TABLE ONLY public.steps
    ADD CONSTRAINT steps_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.summed
    ADD CONSTRAINT summed_pkey PRIMARY KEY (what, at);

ALTER TABLE ONLY public.switches
    ADD CONSTRAINT switches_pkey PRIMARY KEY (name);

ALTER TABLE ONLY public.webhook_deliveries
    ADD CONSTRAINT webhook_deliveries_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.workers
    ADD CONSTRAINT workers_pkey PRIMARY KEY (id);

CREATE INDEX audit_events_newest ON public.audit_events USING btree (at DESC, id DESC);

CREATE INDEX blobs_document ON public.blobs USING btree (document_id);

CREATE INDEX comments_document ON public.comments USING btree (document_id);

CREATE INDEX decisions_document ON public.decisions USING btree (document_id);

CREATE INDEX documents_newest ON public.documents USING btree (created_at DESC, id DESC);

CREATE INDEX documents_title ON public.documents USING gin (title public.gin_trgm_ops);

CREATE INDEX idempotency_keys_age ON public.idempotency_keys USING btree (created_at);

CREATE INDEX idempotency_keys_document ON public.idempotency_keys USING btree (document_id) WHERE (document_id IS NOT NULL);

CREATE INDEX locks_document ON public.locks USING btree (document_id);

CREATE INDEX model_calls_ended ON public.model_calls USING btree (ended_at) WHERE (ended_at IS NOT NULL);

CREATE INDEX model_calls_ended_badly ON public.model_calls USING btree (status, started_at DESC, id DESC) WHERE (status = ANY (ARRAY['CANCELLED'::text, 'FAILED'::text, 'LOST'::text]));

CREATE INDEX model_calls_newest ON public.model_calls USING btree (started_at DESC, id DESC);

CREATE UNIQUE INDEX model_calls_number ON public.model_calls USING btree (run_id, round, step_name, part, number);

CREATE INDEX model_calls_of_profile ON public.model_calls USING btree (profile, started_at DESC);

CREATE INDEX model_calls_open ON public.model_calls USING btree (run_id) WHERE (status = 'STARTED'::text);

CREATE INDEX model_calls_step ON public.model_calls USING btree (step_id);

CREATE INDEX run_events_stops ON public.run_events USING btree (at) WHERE (type = ANY (ARRAY['run_interrupted'::text, 'guardrail_stop'::text]));

CREATE INDEX runs_by_document ON public.runs USING btree (document_id, created_at DESC);

CREATE INDEX runs_by_status ON public.runs USING btree (status, created_at DESC, id DESC);

CREATE INDEX runs_created ON public.runs USING btree (created_at) INCLUDE (status, kind, profile);

CREATE INDEX runs_due ON public.runs USING btree (id) WHERE (move_seq > signalled_seq);

CREATE INDEX runs_ended ON public.runs USING btree (ended_at) INCLUDE (status, kind, profile) WHERE (ended_at IS NOT NULL);

CREATE INDEX runs_newest ON public.runs USING btree (created_at DESC, id DESC);

CREATE UNIQUE INDEX runs_one_active ON public.runs USING btree (document_id) WHERE (status = ANY (ARRAY['RUNNING'::text, 'INTERRUPTED'::text, 'AWAITING_CONFIRMATION'::text]));

CREATE INDEX runs_owned ON public.runs USING btree (owner_worker) WHERE (owner_worker IS NOT NULL);

CREATE INDEX runs_running ON public.runs USING btree (created_at) WHERE (status = 'RUNNING'::text);

CREATE INDEX runs_tags ON public.runs USING gin (tags);

CREATE INDEX sources_document ON public.sources USING btree (document_id, "position");

CREATE UNIQUE INDEX step_plans_in_force ON public.step_plans USING btree (run_id, round, name) WHERE (voided_at IS NULL);

CREATE INDEX step_plans_voided ON public.step_plans USING btree (voided_at) WHERE (voided_at IS NOT NULL);

CREATE UNIQUE INDEX steps_attempt ON public.steps USING btree (run_id, round, name, attempt);

CREATE INDEX steps_by_quarter_of_all ON public.steps_by_quarter USING btree (at) INCLUDE (name, measure, bucket, steps) WHERE (kind IS NULL);

CREATE INDEX steps_by_quarter_of_kind ON public.steps_by_quarter USING btree (kind, at) INCLUDE (profile, name, measure, bucket, steps) WHERE (kind IS NOT NULL);

CREATE INDEX steps_ended ON public.steps USING btree (ended_at) WHERE (ended_at IS NOT NULL);

CREATE UNIQUE INDEX steps_one_running ON public.steps USING btree (run_id) WHERE (status = 'RUNNING'::text);

CREATE UNIQUE INDEX steps_seq ON public.steps USING btree (run_id, seq);

CREATE INDEX steps_stopped ON public.steps USING btree (run_id, ended_at) WHERE (reason_code = 'interrupted'::text);

CREATE INDEX webhook_deliveries_run ON public.webhook_deliveries USING btree (run_id);

CREATE TRIGGER model_calls_unsum AFTER DELETE OR UPDATE ON public.model_calls FOR EACH ROW WHEN ((old.ended_at IS NOT NULL)) EXECUTE FUNCTION public.unsum_call();

CREATE TRIGGER runs_count AFTER INSERT OR DELETE ON public.runs FOR EACH ROW EXECUTE FUNCTION public.count_run();

CREATE TRIGGER runs_count_move AFTER UPDATE OF kind, actor, status ON public.runs FOR EACH ROW WHEN ((((old.kind IS DISTINCT FROM new.kind) OR (old.actor IS DISTINCT FROM new.actor)) OR (old.status IS DISTINCT FROM new.status))) EXECUTE FUNCTION public.count_run();

CREATE TRIGGER runs_guard_move BEFORE UPDATE OF status ON public.runs FOR EACH ROW WHEN ((old.status IS DISTINCT FROM new.status)) EXECUTE FUNCTION public.runs_guard_move();

CREATE TRIGGER runs_unsum AFTER UPDATE OF profile ON public.runs FOR EACH ROW WHEN ((old.profile IS DISTINCT FROM new.profile)) EXECUTE FUNCTION public.unsum_run();

CREATE TRIGGER steps_unsum AFTER DELETE OR UPDATE ON public.steps FOR EACH ROW WHEN ((old.ended_at IS NOT NULL)) EXECUTE FUNCTION public.unsum_step();

ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT api_keys_principal_fkey FOREIGN KEY (principal) REFERENCES public.principals(name) ON DELETE CASCADE;

ALTER TABLE ONLY public.assessments
    ADD CONSTRAINT assessments_run_id_fkey FOREIGN KEY (run_id) REFERENCES public.runs(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.blobs
    ADD CONSTRAINT blobs_document_id_fkey FOREIGN KEY (document_id) REFERENCES public.documents(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.comments
    ADD CONSTRAINT comments_document_id_fkey FOREIGN KEY (document_id) REFERENCES public.documents(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.decisions
    ADD CONSTRAINT decisions_document_id_fkey FOREIGN KEY (document_id) REFERENCES public.documents(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.issues
    ADD CONSTRAINT issues_run_id_fkey FOREIGN KEY (run_id) REFERENCES public.runs(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.locks
    ADD CONSTRAINT locks_document_id_fkey FOREIGN KEY (document_id) REFERENCES public.documents(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.model_call_bodies
    ADD CONSTRAINT model_call_bodies_call_id_fkey FOREIGN KEY (call_id) REFERENCES public.model_calls(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.model_calls
    ADD CONSTRAINT model_calls_plan_id_fkey FOREIGN KEY (plan_id) REFERENCES public.step_plans(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.model_calls
    ADD CONSTRAINT model_calls_run_id_fkey FOREIGN KEY (run_id) REFERENCES public.runs(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.model_calls
    ADD CONSTRAINT model_calls_step_id_fkey FOREIGN KEY (step_id) REFERENCES public.steps(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.review_drafts
    ADD CONSTRAINT review_drafts_document_id_fkey FOREIGN KEY (document_id) REFERENCES public.documents(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.revisions
    ADD CONSTRAINT revisions_document_id_fkey FOREIGN KEY (document_id) REFERENCES public.documents(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.revisions
    ADD CONSTRAINT revisions_original_id_fkey FOREIGN KEY (original_id) REFERENCES public.blobs(id) ON DELETE SET NULL;

ALTER TABLE ONLY public.run_events
    ADD CONSTRAINT run_events_run_id_fkey FOREIGN KEY (run_id) REFERENCES public.runs(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.runs
    ADD CONSTRAINT runs_document_id_fkey FOREIGN KEY (document_id) REFERENCES public.documents(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.sessions
    ADD CONSTRAINT sessions_principal_fkey FOREIGN KEY (principal) REFERENCES public.principals(name) ON DELETE CASCADE;

ALTER TABLE ONLY public.sources
    ADD CONSTRAINT sources_blob_id_fkey FOREIGN KEY (blob_id) REFERENCES public.blobs(id) ON DELETE SET NULL;

ALTER TABLE ONLY public.sources
    ADD CONSTRAINT sources_document_id_fkey FOREIGN KEY (document_id) REFERENCES public.documents(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.sources
    ADD CONSTRAINT sources_original_id_fkey FOREIGN KEY (original_id) REFERENCES public.blobs(id) ON DELETE SET NULL;

ALTER TABLE ONLY public.sources
    ADD CONSTRAINT sources_replaces_fkey FOREIGN KEY (replaces) REFERENCES public.sources(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.step_items
    ADD CONSTRAINT step_items_call_id_fkey FOREIGN KEY (call_id) REFERENCES public.model_calls(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.step_items
    ADD CONSTRAINT step_items_plan_id_fkey FOREIGN KEY (plan_id) REFERENCES public.step_plans(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.step_items
    ADD CONSTRAINT step_items_step_id_fkey FOREIGN KEY (step_id) REFERENCES public.steps(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.step_parts
    ADD CONSTRAINT step_parts_plan_id_fkey FOREIGN KEY (plan_id) REFERENCES public.step_plans(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.step_plans
    ADD CONSTRAINT step_plans_run_id_fkey FOREIGN KEY (run_id) REFERENCES public.runs(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.steps
    ADD CONSTRAINT steps_plan_id_fkey FOREIGN KEY (plan_id) REFERENCES public.step_plans(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.steps
    ADD CONSTRAINT steps_run_id_fkey FOREIGN KEY (run_id) REFERENCES public.runs(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.webhook_deliveries
    ADD CONSTRAINT webhook_deliveries_run_id_fkey FOREIGN KEY (run_id) REFERENCES public.runs(id) ON DELETE CASCADE;

GRANT USAGE ON SCHEMA public TO redraft_app;

GRANT SELECT ON TABLE public.alembic_version TO redraft_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.api_keys TO redraft_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.assessments TO redraft_app;

GRANT SELECT,INSERT ON TABLE public.audit_events TO redraft_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.blob_deletions TO redraft_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.blobs TO redraft_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.calls_by_hour TO redraft_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.comments TO redraft_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.decisions TO redraft_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.documents TO redraft_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.idempotency_keys TO redraft_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.issues TO redraft_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.locks TO redraft_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.model_call_bodies TO redraft_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.model_calls TO redraft_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.principals TO redraft_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.profiles TO redraft_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.rate_buckets TO redraft_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.review_drafts TO redraft_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.revisions TO redraft_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.run_counts TO redraft_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.run_events TO redraft_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.runs TO redraft_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.sessions TO redraft_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.sources TO redraft_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.step_items TO redraft_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.step_parts TO redraft_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.step_plans TO redraft_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.steps TO redraft_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.steps_by_quarter TO redraft_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.summed TO redraft_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.switches TO redraft_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.webhook_deliveries TO redraft_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.workers TO redraft_app;
