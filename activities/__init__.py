"""What touches the world: claims, model calls, commits, rows. Run by `worker`."""
