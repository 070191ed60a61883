"""FakeLLM: a real HTTP server that plays a model provider, scripted and recording.

    from tests.fake_llm import FakeLLM, Reply, good_reviewer, errors

    async with FakeLLM() as llm:                     # or FakeLLM(thread=True): own thread, own loop
        settings = {"OPENAI_BASE_URL": llm.base_url}             # http://127.0.0.1:port/v1
        llm.script(good_reviewer(errors=[("26 Euros", "25 Euros")]))
        ...
        await llm.wait_requests(2)                   # two requests have arrived whole
        await llm.wait_gone(1)                       # one client left before its answer ended
        first = llm.requests[0]
        assert first.schema == "redraft_review" and "26 Euros" in first.document

**Scripts** say what is answered; a new one may be set at any time and holds from the next request
on. `llm.script(x)` takes a function `(Request) -> Reply` (also async), one `Reply`, or a mapping
from schema name ("redraft_review", or "redraft_review:part" for one part) to a function, a reply,
or a list of replies, which are given in order, once each. What a script does not answer is
answered by `llm.default`, a `good_reviewer()` without errors. `llm.queue(reply, …,
schema="redraft_refine")` puts replies in front of the script, once each.
`llm.pace(per_chunk=0.02, before_first=0.3)` overlays fields on every reply. Players:
`good_reviewer`, `in_turn`, `always`.

**Reply** fields (all optional; see `Reply`): `items` and `extra`, or `text`; `finish_reason`;
delays `before_headers`, `before_first`, `per_chunk`; `chunk_chars`; `cut_after`, `stall_after`,
`error_frame_after` (a number of chunks, or `Items(3)`, or `Chars(40)`); `hang`; `status`,
`headers`, `error`; `garbage`; `usage` "last" | "first" | "cumulative" | "finish" | "none" under
`usage_names`; `keepalive`; `stall_comments`; `done_frame`; `split_surrogates`; `refusal`;
`thinking` in `thinking_field`; `parts`; `whole`. A stalled stream goes on at
`llm.release()`. Ready faults are in `errors`: `errors.rate_limited(retry_after=2)`, `bad_key()`,
`forbidden()`, `no_model()`, `too_long()`, `wrapped_too_long()`, `quota()`, `server_error()`,
`content_filter()`, `refused()`, …; those of other makers are `of_vllm()`, `of_llama()`,
`of_ollama()`, `of_azure()`, `of_gateway()`, `of_framework()`.

**Requests** are recorded in order of arrival: `number` (from 1), `at`, `schema`, `part`,
`messages`, `text` (all of the prompt), `document`, `sources`, `issues`, `already` (kept items the
prompt listed), `already_keys("day")`, `wants` (`request` block), `authorization`, `headers`,
`body`, `reply`, `sent` (content that left so far), `first_byte_at`, `done_at`, `gone_at`,
`outcome` ("open", "done", "gone", "cut", "error"), `billed` (input and output tokens, counted
also when no usage is sent), `shares(earlier)`, the known beginning of a prompt; `llm.known_share`
asks all earlier requests. Any path that ends in /chat/completions is served.
Times are `time.time()`. `llm.of("redraft_review")` filters,
`llm.in_flight`, `llm.most_in_flight`, `llm.billed`.

**Waiting**: `await llm.wait_requests(n, schema=None)`, `wait_gone(n)`, `wait_done(n)`,
`wait_until(lambda: …)`; each raises `TimeoutError` after `seconds` (10) and says what was seen.
`await llm.refuse()` closes the port (connections are refused, open ones reset), `await
llm.accept()` opens the same port again.

A script that raises resets that connection and fails the test: leaving the `async with` raises it
(`llm.failures` holds all).

**Own process**: `python -m tests.fake_llm --port N --script FILE --log FILE`; see `__main__`.
"""

from tests.fake_llm import errors
from tests.fake_llm.players import (
    Player,
    always,
    draft_items,
    good_reviewer,
    in_turn,
    itinerary_days,
)
from tests.fake_llm.recording import Billed, Request
from tests.fake_llm.reply import Chars, Items, Reply
from tests.fake_llm.server import FakeLLM

__all__ = [
    "Billed",
    "Chars",
    "FakeLLM",
    "Items",
    "Player",
    "Reply",
    "Request",
    "always",
    "draft_items",
    "errors",
    "good_reviewer",
    "in_turn",
    "itinerary_days",
]
