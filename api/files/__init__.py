"""Files that come and go: uploads, recordings, sources, exports."""
