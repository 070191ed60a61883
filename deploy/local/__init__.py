"""The stack of `./redraft up`: Postgres, Temporal, offline model, workers and API as children.

Starts processes and asks them over their ports; imports nothing of theirs. What it keeps lives in
one data directory, and nothing it starts outlives it.
"""
