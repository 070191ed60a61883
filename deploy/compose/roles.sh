#!/bin/bash
# Run once by the image of Postgres over an empty volume: two roles for Redraft (one owns the schema,
# one only works), one for Temporal.
set -eu

psql --set ON_ERROR_STOP=1 --username "$POSTGRES_USER" --dbname postgres \
    --set owner="$REDRAFT_OWNER_PASSWORD" \
    --set app="$REDRAFT_APP_PASSWORD" \
    --set temporal="$TEMPORAL_DATABASE_PASSWORD" <<'SQL'
CREATE ROLE redraft_owner LOGIN PASSWORD :'owner';
CREATE ROLE redraft_app LOGIN PASSWORD :'app';
CREATE ROLE temporal LOGIN CREATEDB PASSWORD :'temporal';
CREATE DATABASE redraft OWNER redraft_owner
    ENCODING 'UTF8' LOCALE_PROVIDER builtin BUILTIN_LOCALE 'C.UTF-8'
    LC_COLLATE 'C.UTF-8' LC_CTYPE 'C.UTF-8' TEMPLATE template0;
REVOKE ALL ON DATABASE redraft FROM PUBLIC;
GRANT CONNECT ON DATABASE redraft TO redraft_app;
SQL
