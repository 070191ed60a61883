"""`./redraft bench peers`: Redraft beside LangGraph and DBOS in the shared harness, in one run.

    ./redraft bench peers                          # kill, outage, interrupt; three times each
    ./redraft bench peers --measures overhead,throughput0 --reps 5 --json FILE
    ./redraft bench peers --size 2 --reps 1        # all of it small, to try it out

The harness is no part of the project; it is looked for beside it (`../shared/bench`, or
`--harness DIR`), and its packages get an environment of their own (`--venv DIR`). `program` runs
it, `environment` makes that environment, `described` says how Redraft is started, `adapter` and
`wrapping` make reviews and edits of the plain words of its model, `figures` reads the results. The
machine should do nothing else meanwhile: a process that takes a minute to start counts as broken.

Same work for all: 5 rounds of review and refine, an 8 KB document, replies of 1 and 8 KB, each step
committed before the next is asked. Redraft does more of it than the others and pays for it here:
the document is also its source and checked against it, so its requests are twice as long; replies
are streamed; API and worker are two processes; the adapter's time and CPU count as its own.
"""
