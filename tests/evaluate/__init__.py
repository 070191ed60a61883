"""How good the verifiers are: recall of planted facts, alarms about true statements."""
