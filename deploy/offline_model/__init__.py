"""The offline model: an OpenAI-compatible server that reviews by rule; Redraft runs without a key.

It is no language model and says so wherever it can: its model id is `offline`. It knows nothing but
the request it is sent, keeps nothing, and listens on loopback only.
"""
