-- What the service itself needs: profiles, people, keys, workers, switches.
CREATE TABLE profiles (
    name text NOT NULL,
    version integer NOT NULL,
    model text NOT NULL,
    base_url text,
    key_env text NOT NULL DEFAULT 'OPENAI_API_KEY',
    parameters jsonb NOT NULL DEFAULT '{}',
    prices jsonb,
    prompts jsonb NOT NULL DEFAULT '{}',
    fallback jsonb,
    rate_limits jsonb NOT NULL DEFAULT '{}',
    actor text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (name, version)
);
COMMENT ON COLUMN profiles.key_env IS 'Name of the environment variable; never the key.';

CREATE TABLE principals (
    name text PRIMARY KEY,
    kind text NOT NULL,
    roles text[] NOT NULL DEFAULT '{}',
    disabled_at timestamptz,
    created_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE api_keys (
    id uuid PRIMARY KEY,
    principal text NOT NULL REFERENCES principals ON DELETE CASCADE,
    name text NOT NULL,
    prefix text NOT NULL,
    hash text NOT NULL UNIQUE,
    scopes text[] NOT NULL DEFAULT '{}',
    last_used_at timestamptz,
    revoked_at timestamptz,
    expires_at timestamptz,
    created_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE sessions (
    token_hash text PRIMARY KEY,
    principal text NOT NULL REFERENCES principals ON DELETE CASCADE,
    csrf_hash text NOT NULL,
    expires_at timestamptz NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE audit_events (
    id uuid PRIMARY KEY,
    at timestamptz NOT NULL DEFAULT now(),
    actor text NOT NULL,
    action text NOT NULL,
    object_type text NOT NULL,
    object_id text NOT NULL,
    request_id text,
    params jsonb NOT NULL DEFAULT '{}'
);
COMMENT ON TABLE audit_events IS 'No foreign key and no content: it survives deletion.';
CREATE INDEX audit_events_newest ON audit_events (at DESC, id DESC);

CREATE TABLE idempotency_keys (
    principal text NOT NULL,
    method text NOT NULL,
    path text NOT NULL,
    key text NOT NULL,
    request_hash text NOT NULL,
    status integer NOT NULL,
    headers jsonb NOT NULL DEFAULT '{}',
    body jsonb,
    document_id uuid,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (principal, method, path, key)
);
COMMENT ON COLUMN idempotency_keys.body IS
    'The answer as sent; emptied when its document is deleted, and the replay is then 404.';
CREATE INDEX idempotency_keys_age ON idempotency_keys (created_at);
CREATE INDEX idempotency_keys_document ON idempotency_keys (document_id)
    WHERE document_id IS NOT NULL;

CREATE UNLOGGED TABLE workers (
    id text PRIMARY KEY,
    machine text NOT NULL,
    boot text NOT NULL,
    pid_ns text NOT NULL,
    pid integer NOT NULL,
    started double precision NOT NULL,
    lock_key bigint NOT NULL,
    postmaster_started timestamptz NOT NULL,
    in_flight uuid[] NOT NULL DEFAULT '{}',
    build text,
    slots integer NOT NULL DEFAULT 0,
    registered_at timestamptz NOT NULL DEFAULT now(),
    seen_at timestamptz NOT NULL DEFAULT now(),
    goodbye_at timestamptz
);
COMMENT ON TABLE workers IS
    'UNLOGGED: emptied by a crash of Postgres, so a missing row proves nothing by itself.';

CREATE TABLE rate_buckets (
    profile text NOT NULL,
    unit text NOT NULL,
    level double precision NOT NULL,
    updated_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (profile, unit)
);

CREATE TABLE webhook_deliveries (
    id uuid PRIMARY KEY,
    run_id uuid NOT NULL REFERENCES runs ON DELETE CASCADE,
    event_seq bigint NOT NULL,
    url text NOT NULL,
    status text NOT NULL,
    attempts integer NOT NULL DEFAULT 0,
    next_at timestamptz,
    last_http_status integer,
    last_error text,
    delivered_at timestamptz,
    created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX webhook_deliveries_run ON webhook_deliveries (run_id);

CREATE TABLE blob_deletions (
    id uuid PRIMARY KEY,
    what text NOT NULL,
    uri text NOT NULL,
    profile text,
    attempts integer NOT NULL DEFAULT 0,
    last_error text,
    created_at timestamptz NOT NULL DEFAULT now(),
    CHECK (what IN ('blob', 'response'))
);
COMMENT ON TABLE blob_deletions IS
    'Outbox of what lives outside: files and provider responses of deleted documents.';

CREATE TABLE switches (
    name text PRIMARY KEY,
    value jsonb NOT NULL,
    note text,
    actor text NOT NULL,
    updated_at timestamptz NOT NULL DEFAULT now()
);
