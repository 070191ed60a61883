"""`./redraft bench [NAME …] [--json FILE] [--quick]`: first measures of the real processes.

API, worker, model server, Postgres (with fsync and synchronous commit) and Temporal are processes
of their own, as in `./redraft up`; everything is seen from outside: the clock of the model server,
commit timestamps, counters of Postgres, histories of Temporal, CPU times of processes.

`rig` starts and counts, `model` is the model server and its live log, `documents` is the work,
each `measure_*` module returns `figures`, `report` prints and writes them. A target that is missed
is a figure, not an error: the exit code is 0 unless something broke.

`./redraft bench peers` measures it beside LangGraph and DBOS; `tests.bench.peers` says how.
"""
