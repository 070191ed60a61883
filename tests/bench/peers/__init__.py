"""`./redraft bench peers`: Redraft beside LangGraph and DBOS in one run of the shared harness.

The harness is no part of the project; it is looked for beside it (`../shared/bench`, or
`--harness DIR`), and its packages get an environment of their own. `program` runs it, `environment`
makes that environment, `described` says how Redraft is started, `adapter` and `wrapping` turn the
harness' plain model into one that answers reviews and edits, `figures` reads the results.

Same work for all: 5 rounds of review and refine, an 8 KB document, replies of 1 and 8 KB, each step
committed before the next is asked. Redraft does more of it than the others and pays for it here:
the document is also its source and checked against it, so its requests are twice as long, replies
are streamed, API and worker are two processes, and the adapter's time and CPU count as its own.
"""
