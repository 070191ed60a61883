"""Speech recognition on this machine: a loopback server with `/audio/transcriptions`.

The recogniser itself is a child process, because nothing else can stop it: when the client leaves,
the child is ended, and with it every thread that computes. Needs the extra `speech` of the lock.
"""
