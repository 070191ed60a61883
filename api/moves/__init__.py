"""What people do to runs and documents, each a transaction and the signal that it owes."""
