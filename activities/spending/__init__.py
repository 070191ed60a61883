"""Each paid call from its row to its close, and what a run's limits still allow."""
