"""Runs on a real Temporal server, a real Postgres and a FakeLLM."""
