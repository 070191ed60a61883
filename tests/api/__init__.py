"""The API over real Postgres; Temporal may be absent, then signals stay due."""
