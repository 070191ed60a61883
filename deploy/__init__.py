"""Where Redraft runs: settings, schema, logs, the local stack, containers."""
