"""Stored histories of released workflow shapes, replayed without a server."""
