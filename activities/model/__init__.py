"""The boundary to language models: requests, streams, replies, tokens, limits."""
