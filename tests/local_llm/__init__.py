"""A real language model on the wire: `./redraft test --local-llm`, and by no other command.

The smallest instructed model there is, served by llama.cpp's own server, plays the provider. What
it says is worthless, and shown; what is tested is the boundary: forms, usage, cancel, limits, ends.
"""
