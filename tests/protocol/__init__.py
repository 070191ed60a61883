"""The protocol of a run: an executable model of it, and its protections tried one by one.

`python -m tests.protocol` searches every state of the model (`rules`, `state`, `search`, and the
actors `people`, `workflow`, `worker`, `recovery`). `removals` says where the code holds each rule;
`./redraft bench protections` takes them away one at a time and expects a test to fail.
"""
