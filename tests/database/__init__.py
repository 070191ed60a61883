"""Statements against a real Postgres."""
