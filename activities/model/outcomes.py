"""Every way a call ends, in one table; tests/unit/test_model_outcomes.py plays each row.

cause: of the call's row, "-" where the reply is complete. code: what was wrong, in its `error`.
then: `part done`; `rest` (items that arrived stay, the next call asks for the rest, counted against
the part's cap); `retry` (later; counted against that cap only where text had come); `again` (at
once, plainer); `failed` (final, the operator repairs and resumes); `guardrail` (never continued by
itself).

| what arrives | cause | code | then |
|---|---|---|---|
| a whole object, `stop` | - | - | part done |
| a whole object, `[DONE]`, no finish reason | - | - | part done |
| an object in a fence or between sentences | - | - | part done |
| an object behind a block of thinking | - | - | part done |
| an object in content parts | - | - | part done |
| an object from a server that does not stream | - | - | part done |
| text, then a closed connection | cut | connection_lost | rest |
| a whole object, then a closed body without finish reason | cut | no_finish_reason | rest |
| items, then an error frame | cut | overloaded | rest |
| items, then an error frame of a full shared context | cut | context_shared | rest |
| an unknown finish reason | cut | finish_reason | rest |
| an open object, `[DONE]`, no finish reason | cut | unclosed | rest |
| `length` behind items | length | length | rest |
| `length` behind a whole object | length | length | rest |
| `length` inside an item | length | length | rest |
| `length`, reasoning beside an empty content | length | only_reasoning | rest |
| `length` inside a block of thinking | length | only_reasoning | rest |
| silence behind items | stall | silence | rest |
| silence behind items, keep-alive comments | stall | silence | rest |
| text that takes longer than the whole call may | stall | silence | rest |
| empty content, `stop` | garbled | empty | rest |
| a block of thinking and nothing else, `stop` | garbled | no_object | rest |
| sentences where an object was asked for | garbled | no_object | rest |
| an open object, `stop` | garbled | unclosed | rest |
| two objects | garbled | two_objects | rest |
| a list in place of the object | garbled | not_an_object | rest |
| an object without `items` | garbled | no_items | rest |
| an item of wrong types | garbled | invalid_item | rest |
| an item with NaN | garbled | invalid_item | rest |
| an item with a doubled key | garbled | invalid_item | rest |
| NaN beside the items | garbled | broken_json | rest |
| a doubled `items` | garbled | broken_json | rest |
| a reply without end | garbled | too_long | rest |
| nothing within the first time limit | connection | timeout | retry |
| a closed connection before anything | connection | connection_lost | retry |
| a refused connection | connection | unreachable | retry |
| an error frame before any item | server_error | overloaded | retry |
| an error frame inside the first item | server_error | overloaded | retry |
| an error frame of a full shared context before any item | server_error | context_shared | retry |
| bytes that are no stream | server_error | no_stream | retry |
| a page of HTML from a gateway | server_error | http_502 | retry |
| 429 | rate_limited | rate_limited | retry |
| 400 about the format of replies | provider_refused | form_refused | again |
| 400 about anything else | provider_refused | bad_request | failed |
| 401 | provider_refused | bad_key | failed |
| 404 | provider_refused | unknown_model | failed |
| 429 without quota | provider_refused | no_quota | failed |
| 400 context too long | provider_refused | context_too_long | failed |
| 500 around a context too long | provider_refused | context_too_long | failed |
| an error frame about the quota | provider_refused | no_quota | failed |
| 400 of a prompt filter | refusal | content_filter | guardrail |
| `content_filter` behind text | refusal | content_filter | guardrail |
| `content_filter` without text | refusal | content_filter | guardrail |
| a `refusal` field | refusal | refusal | guardrail |
"""

from __future__ import annotations

NORMAL = frozenset(
    {"stop", "stop_sequence", "eos", "eos_token", "end_turn", "complete", "completed"}
)
CUT_BY_LENGTH = frozenset(
    {"length", "max_tokens", "max_output_tokens", "model_length", "model_context_window_exceeded"}
)
FILTERED = frozenset(
    {"content_filter", "safety", "recitation", "prohibited_content", "blocklist", "sensitive"}
)
REFUSED = frozenset({"refusal"})
"""Finish reasons in small letters, as different servers name them."""
