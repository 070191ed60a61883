"""Faults done to real processes and servers, and what must hold afterwards.

`tests.faults.kit` is the kit: faults by name, for `./redraft fault` and `./redraft bench faults`.
By hand, in a test:

    worker = stack.worker(REDRAFT_FAULT="settle.written:2")   # dies there, see activities/hooks.py
    worker = stack.worker(REDRAFT_FAULT="request.before:1:freeze")      # stops there until `thaw`
    await ended(worker)                                       # waits for such a death
    stack.kill(worker)                                        # kill -9, at any moment
    freeze(worker); thaw(worker)                              # SIGSTOP, SIGCONT
    await cut_listeners(stack)                                # notifications do not arrive
    async with own_postgres() as server: …                    # a cluster to stop and start
    async with own_temporal() as server: …                    # a server to stop, freeze, forget
    llm.queue(Reply(items=…, stall_after=Items(2)))           # cut, stall, garble: tests/fake_llm

    await consistent(stack, run_id)                           # rows agree (tests/stack.py)
    await nothing_repaid(stack, llm, run_id)                  # stored results never asked for again

No test depends on speed: where death must be proved by pid, the heartbeat timeout is 300 s, so a
test that passed within its limit cannot have waited for it.
"""
