"""One part of a recording to any server with `/audio/transcriptions`, and what it heard.

The reply is one JSON object, so there is no text while it is made: a part is short, and whoever
cancels closes the connection. A server that knows no times is asked again without them.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import httpx2

from activities.failures import Failure, ProviderError, Verdict, classify, timed_out
from activities.model.patience import Patience
from activities.model.profile import Profile
from activities.model.secret import without
from activities.model.servers import Servers
from activities.model.tokens import Usage

LARGEST_REPLY = 20_000_000
MOST_TOKENS = 10_000_000
LONGEST_BILLED = 24 * 3600.0
SECONDS_A_SECOND = 2.0
"""Longer than this for each second of sound, beside the first-byte limit, is no answer: loops of a
recogniser take for ever."""
SECONDS_A_SECOND_HERE = 60.0
"""The recogniser of this machine hears one part after the other, slowly where the machine is slow
or busy; cut off, it would begin the same part again, for ever. One that dies closes the connection.
"""
_WITH_TIMES, _PLAIN = "verbose_json", "json"
_REFUSED_FORM = frozenset({400, 404, 415, 422})


@dataclass(frozen=True, kw_only=True)
class Heard:
    """`reply` has `text` or `segments`, else `failure` says why not."""

    reply: Mapping[str, Any] | None = None
    failure: Failure | None = None
    http_status: int | None = None
    request_id: str | None = None

    @property
    def usage(self) -> Usage | None:
        """Tokens, where the server counts in them; others count minutes or nothing."""
        given = (self.reply or {}).get("usage")
        if not isinstance(given, Mapping):
            return None
        spent = [given.get(name) for name in ("input_tokens", "output_tokens")]
        counts = [n for n in spent if isinstance(n, int) and 0 <= n < MOST_TOKENS]
        return Usage(input=counts[0], output=counts[1]) if len(counts) == 2 else None

    @property
    def billed_seconds(self) -> float | None:
        """Where the server counts in them and says so."""
        given = (self.reply or {}).get("usage")
        told = given.get("seconds") if isinstance(given, Mapping) else None
        if isinstance(told, bool) or not isinstance(told, int | float):
            return None
        return float(told) if 0 <= told < LONGEST_BILLED else None


async def hear(
    servers: Servers, profile: Profile, wav: bytes, seconds: float, *, language: str | None = None
) -> Heard:
    """One request: what is said in `wav`. A server that knows no times refuses once, to be asked
    AGAIN. Cancelling closes the connection. Raises nothing of the provider."""
    try:
        key, url = servers.key(profile), await servers.endpoint(profile)
        path = url.path.removesuffix("/chat/completions") + "/audio/transcriptions"
        url = url.copy_with(path=path)
        slowest = SECONDS_A_SECOND_HERE if servers.hears_here(profile) else SECONDS_A_SECOND
        longest = servers.settings.first_byte_timeout + slowest * seconds
        async with Patience(asyncio.get_running_loop().time() + longest):
            known = str(url), profile.model
            form = _PLAIN if known in servers.without_times else _WITH_TIMES
            heard = await _ask(servers, key, url, _fields(profile, form, language), wav)
            if heard.failure is None or heard.http_status not in _REFUSED_FORM or form == _PLAIN:
                return heard
            servers.without_times.add(known)
            return replace(heard, failure=replace(heard.failure, verdict=Verdict.AGAIN))
    except TimeoutError:
        return Heard(failure=timed_out())
    except Exception as error:
        return Heard(failure=classify(error))


def _fields(profile: Profile, form: str, language: str | None) -> dict[str, Any]:
    """What a person set in the profile wins."""
    fields: dict[str, Any] = {"model": profile.model, "response_format": form}
    if form == _WITH_TIMES:
        fields["timestamp_granularities[]"] = ["segment"]
    if language:
        fields["language"] = language.partition("-")[0].lower()
    given = {k: v for k, v in profile.parameters.items() if isinstance(v, str | int | float)}
    return {**fields, **{k: str(v) for k, v in given.items() if k != "response_format"}}


async def _ask(
    servers: Servers, key: str, url: httpx2.URL, fields: Mapping[str, Any], wav: bytes
) -> Heard:
    pool = await servers.pool(url)
    headers = servers.headers(key, url)
    del headers["Content-Type"]  # the form names its boundary
    headers["Accept"] = "application/json"
    files = {"file": ("part.wav", wav, "audio/wav")}
    async with pool.stream("POST", url, headers=headers, data=fields, files=files) as answer:
        body = bytearray()
        async for chunk in answer.aiter_bytes():
            body += chunk
            if len(body) > LARGEST_REPLY:
                break
    status, request_id = answer.status_code, without(answer.headers.get("x-request-id"), key)
    try:
        if status != 200:
            raise ProviderError(
                status=status, headers=answer.headers, body=bytes(body[:100_000]), secrets=[key]
            )
        return Heard(
            reply=without(_reply(bytes(body)), key), http_status=status, request_id=request_id
        )
    except ProviderError as error:
        return Heard(failure=classify(error), http_status=status, request_id=request_id)


def _reply(body: bytes) -> Mapping[str, Any]:
    """Raises ProviderError, which is tried again: the server's half answer or a proxy's page."""
    try:
        found = json.loads(body)
    except ValueError:
        found = None
    if not isinstance(found, dict) or not ({"text", "segments"} & found.keys()):
        raise ProviderError(status=502)
    return found
