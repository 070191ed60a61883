"""What can be decided without touching the world: words, moves, the workflow, the kinds."""
