"""The pages: server-rendered, complete without script."""
