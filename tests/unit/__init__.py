"""Pure functions and small servers: no service needed."""
