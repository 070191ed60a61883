-- Documents and what belongs to them. Everything here goes when its document goes.
CREATE EXTENSION IF NOT EXISTS pg_trgm;

CREATE TABLE documents (
    id uuid PRIMARY KEY,
    kind text NOT NULL,
    title text NOT NULL,
    language text,
    attributes jsonb NOT NULL DEFAULT '{}',
    tags text[] NOT NULL DEFAULT '{}',
    revision_seq integer NOT NULL DEFAULT -1,
    actor text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now()
);
COMMENT ON COLUMN documents.revision_seq IS
    'Highest revision number given out; a number is taken under the row lock and never reused.';
CREATE INDEX documents_newest ON documents (created_at DESC, id DESC);
CREATE INDEX documents_title ON documents USING gin (title gin_trgm_ops);

CREATE TABLE blobs (
    id uuid PRIMARY KEY,
    document_id uuid NOT NULL REFERENCES documents ON DELETE CASCADE,
    uri text NOT NULL,
    name text NOT NULL,
    media_type text NOT NULL,
    bytes bigint NOT NULL,
    sha256 text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX blobs_document ON blobs (document_id);

CREATE TABLE sources (
    id uuid PRIMARY KEY,
    document_id uuid NOT NULL REFERENCES documents ON DELETE CASCADE,
    name text NOT NULL,
    media_type text NOT NULL,
    version integer NOT NULL DEFAULT 1,
    replaces uuid REFERENCES sources ON DELETE CASCADE,
    replaced_by uuid,
    text text NOT NULL,
    sha256 text NOT NULL,
    blob_id uuid REFERENCES blobs ON DELETE SET NULL,
    position integer NOT NULL,
    actor text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
);
COMMENT ON COLUMN sources.replaced_by IS
    'Null for the version in force; a correction is a new row and the old one keeps its text.';
CREATE INDEX sources_document ON sources (document_id, position);

CREATE TABLE revisions (
    document_id uuid NOT NULL REFERENCES documents ON DELETE CASCADE,
    number integer NOT NULL CHECK (number >= 0),
    body text NOT NULL,
    sha256 text NOT NULL,
    base integer,
    author text NOT NULL,
    run_id uuid,
    step_id uuid,
    round integer,
    comment text,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (document_id, number),
    CHECK ((author = 'run') = (step_id IS NOT NULL))
);
COMMENT ON COLUMN revisions.author IS 'run, or the name of the person.';

CREATE TABLE comments (
    id uuid PRIMARY KEY,
    document_id uuid NOT NULL REFERENCES documents ON DELETE CASCADE,
    run_id uuid,
    revision integer,
    quote text,
    text text NOT NULL,
    actor text NOT NULL,
    resolved_at timestamptz,
    created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX comments_document ON comments (document_id);

CREATE TABLE locks (
    id uuid PRIMARY KEY,
    document_id uuid NOT NULL REFERENCES documents ON DELETE CASCADE,
    quote text NOT NULL,
    actor text NOT NULL,
    removed_at timestamptz,
    created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX locks_document ON locks (document_id);

CREATE TABLE decisions (
    id uuid PRIMARY KEY,
    document_id uuid NOT NULL REFERENCES documents ON DELETE CASCADE,
    run_id uuid,
    revision integer NOT NULL,
    change jsonb NOT NULL,
    accept boolean NOT NULL,
    text text,
    actor text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX decisions_document ON decisions (document_id);

CREATE TABLE review_drafts (
    document_id uuid NOT NULL REFERENCES documents ON DELETE CASCADE,
    principal text NOT NULL,
    base_revision integer NOT NULL,
    body text NOT NULL,
    updated_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (document_id, principal)
);
