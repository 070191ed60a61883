"""One request to a model provider: streamed, limited in time, ended in a way that has a name.

Nothing is tried again here, not even a request that a server refused for its form: each request
has a row of its own, so whoever keeps the rows asks again (`CallEnd.again`).
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import httpx2

from activities import failures
from activities.failures import BadAddressError, Failure, KeyNotSetError, ProviderError, Verdict
from activities.model.formats import Manner, input_tokens, milder, request_body
from activities.model.learned import is_wide, may_be_cut, sample_of
from activities.model.outcomes import CUT_BY_LENGTH, FILTERED, NORMAL, REFUSED
from activities.model.patience import Patience
from activities.model.profile import Profile
from activities.model.replies import ReplyParser
from activities.model.secret import without
from activities.model.servers import Servers
from activities.model.streaming import Frames, Reading
from activities.model.tokens import Usage
from deploy.database import clean
from workflows.kinds.kind import Prompt
from workflows.vocabulary import Reason

UNSENT = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.ProxyError, httpx2.InvalidURL)
"""No connection, so no request."""
AFTER_FINISH = 3.0
"""Seconds for usage and `[DONE]` after the finish reason."""
AFTER_BROKEN = 4_000
"""Characters still read of what cannot become a reply, to learn usage and finish reason."""
LONGEST_REPLY = 4_000_000
"""Characters of content and reasoning; no reply needs as many, and a server may never stop."""
_ERROR_BODY = 64_000


@dataclass(frozen=True, kw_only=True)
class CallEnd:
    """How a call ended.

    `cause` None: normally, with a complete reply. LENGTH, CUT, STALL, GARBLED: early, for the
    model's reasons; items handed on before stay good, `failure` is None, and `fault` says what was
    wrong. Any other cause is that of `failure`. `extras`: top-level fields beside items (score).
    `again`: the server refused the form alone; the same request is worth asking in this manner.
    """

    cause: Reason | None
    failure: Failure | None
    finish_reason: str | None
    extras: Mapping[str, Any] = field(default_factory=dict)
    fault: str | None = None
    again: Manner | None = None


class ModelCall:
    """One call. Its attributes are valid at any time, also after a cancel."""

    def __init__(
        self,
        servers: Servers,
        profile: Profile,
        prompt: Prompt,
        *,
        on_item: Callable[[Mapping[str, Any]], None],
        on_text: Callable[[str], None],
        manner: Manner | None = None,
    ) -> None:
        self.first_token_ms: int | None = None
        self.http_status: int | None = None
        self.provider_request_id: str | None = None
        self.requests = 0
        """HTTP requests sent: one, or none where address or key cannot be used."""
        self._manner = manner
        self._key = ""
        self._unsent = False
        self._servers = servers
        self._profile = profile
        self._prompt = prompt
        self._on_item = on_item
        self._parser = ReplyParser(prompt.schema, self._item)
        self._reading = Reading(self._parser, on_text)
        self._done = False
        self._began = self._deadline = self._rearmed = 0.0
        self._limit: Patience | None = None

    @property
    def text(self) -> str:
        """The content as it arrived, without NUL and lone surrogates."""
        return self._reading.text

    @property
    def reply(self) -> str:
        """The content as it may be kept: without the key, should a server have repeated it. Items
        are handed on so too: they become issues, and passages of the document."""
        return str(self._told(self.text))

    def _told(self, value: Any) -> Any:
        """A text, or JSON with texts in it, without the key."""
        return without(value, self._key)

    def _item(self, payload: Mapping[str, Any]) -> None:
        self._on_item(self._told(payload))

    @property
    def form(self) -> str | None:
        """How the reply was asked for; None before the request."""
        return str(self._manner.format) if self._manner else None

    @property
    def manner(self) -> str | None:
        """How it was asked, as rows have it."""
        return self._manner.code if self._manner else None

    @property
    def thinking(self) -> str:
        """Reasoning that the provider shows beside the content."""
        return self._reading.thinking

    @property
    def received(self) -> str:
        """All that was generated as far as it was sent: what an estimate has to count."""
        return self.thinking + self.text

    @property
    def usage(self) -> Usage | None:
        """As reported by the provider; None if it did not (yet)."""
        return self._reading.usage

    def sample(self) -> int | None:
        """Our own count of what was reported as output, reasoning aside where that was told."""
        usage = self.usage
        if usage is None:
            return None
        return sample_of(self.text if usage.reasoning else self.received)

    def may_have_cut(self, expected: int) -> bool:
        """Whether the server counted so much less than was sent that it may have cut the prompt."""
        return self.usage is not None and may_be_cut(self.usage.input, sent=expected)

    def cut_prompt(self, expected: int) -> bool:
        """Whether that is to be believed."""
        if self.usage is None:
            return False
        wide = is_wide(self._prompt.user)
        return self._profile.learned.surely_cut(self.usage.input, sent=expected, wide=wide)

    def estimate(self) -> Usage | None:
        """What a call cost whose provider did not say: the messages as they were sent, and what
        arrived. What was never sent, or answered by a refusal, costs nothing; None when nobody
        knows what was done.

        Counts tokens: for a long text not on the loop.
        """
        if not self.requests or self._unsent:
            return Usage(input=0, output=0)
        if self.http_status is None and not self.received:
            return None
        if self.http_status not in (None, 200) and not self.received:
            return Usage(input=0, output=0)
        learned, told = self._profile.learned, self._reading.reported
        thought, sent = learned.output(self.thinking), told.get("input")
        if not sent:
            counted = input_tokens(self._prompt, self._manner or Manner())
            sent = learned.input(counted, wide=is_wide(self._prompt.user))
        return Usage(
            input=sent,
            output=max(learned.output(self.text) + thought, told.get("output", 0)),
            cached=min(told.get("cached", 0), sent),
            reasoning=thought,
        )

    @property
    def finish_reason(self) -> str | None:
        told = self._told(self._reading.finish_reason)
        return str(told)[:64] if told else None

    async def run(self) -> CallEnd:
        """Send and read to the end; the connection is closed or given back in every case.

        Raises CancelledError, and what `on_item` and `on_text` raise.
        """
        self._began = time.perf_counter()
        try:
            url = await self._servers.endpoint(self._profile)
            self._key = self._servers.key(self._profile)
            headers = self._servers.headers(self._key, url)
        except (BadAddressError, KeyNotSetError) as error:
            return self._failed(failures.classify(error))
        if self._manner is None:
            self._manner = self._servers.manner(url, self._profile)
        try:
            await self._request(url, headers, self._manner)
            return self._concluded()
        except ProviderError as error:
            return self._after_error(error)
        except TimeoutError:
            return self._after_silence()
        except (httpx2.HTTPError, httpx2.InvalidURL, OSError) as error:
            return self._after_loss(error)

    # sending and reading

    async def _request(self, url: httpx2.URL, headers: Mapping[str, str], manner: Manner) -> None:
        body = request_body(self._profile, self._prompt, manner)
        content = json.dumps(body, ensure_ascii=False, default=dict).encode("utf-8", "replace")
        settings = self._servers.settings
        pool = await self._servers.pool(url)
        now = asyncio.get_running_loop().time()
        self._deadline = now + settings.call_timeout
        self.requests += 1
        self._limit = Patience(min(self._deadline, now + settings.first_byte_timeout))
        async with (
            self._limit,
            pool.stream("POST", url, headers=headers, content=content) as response,
        ):
            self.http_status = response.status_code
            self.provider_request_id = _request_id(response.headers, self._key)
            if response.status_code != 200:
                raise await self._refusal(response)
            self._servers.remember(url, self._profile.model, manner)
            await self._read(response)

    async def _refusal(self, response: httpx2.Response) -> ProviderError:
        return ProviderError(
            status=response.status_code,
            headers=response.headers,
            body=await _beginning(response),
            secrets=(self._key,),
            prompt=(self._prompt.system, self._prompt.user),
        )

    async def _read(self, response: httpx2.Response) -> None:
        frames = Frames()
        readable = AFTER_BROKEN
        async with contextlib.aclosing(_chunks(response)) as chunks:
            async for chunk in chunks:
                before = self._reading.characters
                self._take(frames.feed(chunk))
                if frames.done:
                    break
                if self._reading.size > LONGEST_REPLY:
                    self._parser.broken = "too_long"
                    return
                if self._parser.broken:
                    readable -= self._reading.characters - before
                    if readable < 0:
                        return
        self._take(frames.end())
        self._done = self._done or frames.done

    def _take(self, frames: Iterator[Any]) -> None:
        reading = self._reading
        for frame in frames:
            finished = reading.finish_reason is not None
            if reading.take(frame):
                self._progress()
            if not finished and reading.finish_reason is not None:
                self._rearm(AFTER_FINISH)

    def _progress(self) -> None:
        """Only what the model wrote counts; comments, empty deltas and usage do not."""
        if self.first_token_ms is None:
            self.first_token_ms = round((time.perf_counter() - self._began) * 1000)
        silence = self._servers.settings.silence_timeout
        now = asyncio.get_running_loop().time()
        if now - self._rearmed > silence * 0.02:  # a timer per token would cost more than the token
            self._rearm(silence)

    def _rearm(self, seconds: float) -> None:
        self._rearmed = asyncio.get_running_loop().time()
        if self._limit is not None:
            self._limit.reschedule(min(self._deadline, self._rearmed + seconds))

    # what the end means

    def _concluded(self) -> CallEnd:
        """The stream ended by itself, or after its finish reason had come."""
        reading = self._reading
        reading.finish()
        finish = (reading.finish_reason or "").lower()
        if reading.refused or finish in REFUSED:
            return self._failed(failures.refused("refusal", self.http_status))
        if finish in FILTERED:
            return self._failed(failures.refused("content_filter", self.http_status))
        if finish in CUT_BY_LENGTH:
            only_thought = self._parser.thinking or (reading.received and not reading.text)
            return self._early(Reason.LENGTH, "only_reasoning" if only_thought else "length")
        if self._parser.broken:
            return self._early(Reason.GARBLED, self._parser.broken)
        if finish in NORMAL or (not finish and self._done and reading.received):
            return self._judged(said_stop=bool(finish))
        if finish or reading.received:
            return self._early(Reason.CUT, "finish_reason" if finish else "no_finish_reason")
        if not reading.frames:
            return self._failed(failures.not_a_stream(self.http_status))
        return self._failed(failures.lost())

    def _judged(self, *, said_stop: bool) -> CallEnd:
        """A reply counts as complete only if its object closed and every item was good."""
        reply = self._parser.end()
        if reply.complete:
            return CallEnd(
                cause=None,
                failure=None,
                finish_reason=self.finish_reason,
                extras=self._told(reply.extras),
            )
        fault = reply.fault if self._reading.text else "empty"
        cause = Reason.GARBLED if said_stop or self._parser.closed else Reason.CUT
        return self._early(cause, fault, self._told(reply.extras))

    def _after_error(self, error: ProviderError) -> CallEnd:
        if self._reading.finish_reason or self._done:
            return self._concluded()
        again = milder(self._manner, error) if self._manner else None
        if again is not None:
            return replace(self._failed(failures.form_refused(error)), again=again)
        failure = failures.classify(error)
        if failure.verdict is Verdict.RETRY and self._parser.items:
            return self._early(Reason.CUT, failure.code)
        return self._failed(failure)

    def _after_silence(self) -> CallEnd:
        if self._reading.finish_reason or self._done:
            return self._concluded()
        if self._reading.received:
            return self._early(Reason.STALL, "silence")
        return self._failed(failures.timed_out())

    def _after_loss(self, error: Exception) -> CallEnd:
        self._unsent = isinstance(error, UNSENT)
        if self._reading.finish_reason or self._done:
            return self._concluded()
        if self._reading.received:
            return self._early(Reason.CUT, "connection_lost")
        return self._failed(failures.classify(error))

    def _early(
        self, cause: Reason, fault: str | None, extras: Mapping[str, Any] | None = None
    ) -> CallEnd:
        return CallEnd(
            cause=cause,
            failure=None,
            finish_reason=self.finish_reason,
            extras=extras or {},
            fault=fault,
        )

    def _failed(self, failure: Failure) -> CallEnd:
        return CallEnd(cause=failure.cause, failure=failure, finish_reason=self.finish_reason)


def _chunks(response: httpx2.Response) -> AsyncGenerator[bytes, None]:
    """As they come where nothing has to be decoded: it saves a quarter of the work per chunk."""
    plain = response.headers.get("content-encoding", "identity") == "identity"
    return response.aiter_raw() if plain else response.aiter_bytes()


async def _beginning(response: httpx2.Response) -> bytes:
    """The body of an error, as far as it can be of use."""
    body = b""
    async with contextlib.aclosing(response.aiter_bytes()) as chunks:
        async for chunk in chunks:
            body += chunk
            if len(body) >= _ERROR_BODY:
                break
    return body[:_ERROR_BODY]


def _request_id(headers: httpx2.Headers, key: str) -> str | None:
    for name in ("x-request-id", "request-id", "apim-request-id"):
        if value := headers.get(name):
            return str(without(clean(str(value)), key))[:128]
    return None
