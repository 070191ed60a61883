"""Who may write of a run, who holds it, who is dead, and who is told to stop."""
