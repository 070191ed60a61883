"""The fake provider itself: listens, records, asks the script, sends."""

import asyncio
import inspect
import threading
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Self

from deploy.offline_model.wire import BadRequest, Call, ClientLeft, Connection, listen
from tests.fake_llm.players import Player, always, good_reviewer, in_turn
from tests.fake_llm.recording import Billed, CountTokens, Request, rough_tokens
from tests.fake_llm.reply import Reply
from tests.fake_llm.streaming import Sending
from tests.fake_llm.watch import Watch

Script = Player | Reply | Mapping[str, Player | Reply | Sequence[Reply]]


class FakeLLM:
    """A provider on a loopback port; see the module's docstring for its use."""

    def __init__(
        self,
        script: Script | None = None,
        *,
        port: int = 0,
        thread: bool = False,
        count_tokens: CountTokens = rough_tokens,
        models: Sequence[str] = ("fake",),
    ) -> None:
        self.default: Player = good_reviewer()
        self.requests: list[Request] = []
        self.failures: list[Exception] = []
        self.most_in_flight = 0
        self.on_event: Callable[[str, Request], None] = lambda _event, _request: None
        self.port = port
        self._script: Player | Mapping[str, Player] = {}
        self._queue: list[tuple[str | None, Reply]] = []
        self._pace: Mapping[str, Any] = {}
        self._count_tokens = count_tokens
        self._models = models
        self._watch = Watch()
        self._released: set[int] = set()
        self._open: dict[Connection, Request | None] = {}
        self._server: asyncio.Server | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread = threading.Thread(target=self._run_loop, daemon=True) if thread else None
        if script is not None:
            self.script(script)

    # scripting

    def script(self, script: Script) -> None:
        """Answer from now on by this script; what it does not answer, `default` does."""
        if isinstance(script, Mapping):
            self._script = {name: _player(value, self) for name, value in script.items()}
        else:
            self._script = _player(script, self)

    def queue(self, *replies: Reply, schema: str | None = None) -> None:
        """Give these replies first, once each, in order; to any request or to one schema's."""
        self._queue += [(schema, reply) for reply in replies]

    def pace(self, **fields: Any) -> None:
        """Overlay these fields of `Reply` on every later reply; without fields, stop that."""
        self._pace = fields

    def release(self, number: int | None = None) -> None:
        """Let stalled or hanging answers go on: the one of that request, or all of now."""
        numbers = [number] if number is not None else [r.number for r in self.requests]
        self._released.update(numbers)
        if self._loop is not None:
            for connection in list(self._open):
                self._loop.call_soon_threadsafe(connection.wake)

    def answer_by_default(self, request: Request) -> Reply | Awaitable[Reply]:
        """What `default` says now."""
        return self.default(request)

    # what was seen

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def in_flight(self) -> int:
        """Requests whose answer is under way."""
        return sum(request.outcome == "open" for request in self.requests)

    @property
    def billed(self) -> Billed:
        """Sum over all requests, broken ones too."""
        return sum((request.billed for request in self.requests), Billed())

    def known_share(self, request: Request) -> float:
        """Which share of its prompt a provider has in its cache from any earlier request."""
        earlier = self.requests[: request.number - 1]
        return max((request.shares(other) for other in earlier), default=0.0)

    def of(self, schema: str, part: str | None = None) -> Sequence[Request]:
        """The requests of one schema (and part), in order."""
        return [
            request
            for request in self.requests
            if request.schema == schema and part in (None, request.part)
        ]

    async def wait_requests(
        self, n: int, *, schema: str | None = None, seconds: float = 10
    ) -> Sequence[Request]:
        """Wait until n requests (of a schema) have arrived; returns them."""
        await self.wait_until(lambda: len(self._of(schema)) >= n, seconds=seconds)
        return self._of(schema)

    async def wait_gone(self, n: int, *, seconds: float = 10) -> Sequence[Request]:
        """Wait until n clients left before their answer was complete; returns those requests."""
        return await self._wait_outcome("gone", n, seconds)

    async def wait_done(self, n: int, *, seconds: float = 10) -> Sequence[Request]:
        """Wait until n answers were sent whole; returns those requests."""
        return await self._wait_outcome("done", n, seconds)

    async def wait_idle(self, *, seconds: float = 10) -> None:
        """Wait until no answer is under way."""
        await self.wait_until(lambda: self.in_flight == 0, seconds=seconds)

    async def wait_until(self, holds: Callable[[], bool], *, seconds: float = 10) -> None:
        """Wait for any condition over this object; it is looked at after each event and chunk."""
        await self._watch.until(holds, seconds=seconds, seen=self._seen)

    async def _wait_outcome(self, outcome: str, n: int, seconds: float) -> Sequence[Request]:
        def ended() -> Sequence[Request]:
            return [request for request in self.requests if request.outcome == outcome]

        await self.wait_until(lambda: len(ended()) >= n, seconds=seconds)
        return ended()

    def _of(self, schema: str | None) -> Sequence[Request]:
        return list(self.requests) if schema is None else self.of(schema)

    def _seen(self) -> str:
        return ", ".join(f"{r.number}:{r.schema or '-'}:{r.outcome}" for r in self.requests) or "-"

    # starting and stopping

    async def __aenter__(self) -> Self:
        if self._thread is not None:
            self._loop = asyncio.new_event_loop()
            self._thread.start()
        else:
            self._loop = asyncio.get_running_loop()
        await self.accept()
        return self

    async def __aexit__(self, kind: object, *_exc: object) -> None:
        await self.refuse()
        if self._thread is not None and self._loop is not None:
            self._loop.call_soon_threadsafe(self._loop.stop)
            await asyncio.to_thread(self._thread.join)
            self._loop.close()
        if self.failures and kind is None:
            raise self.failures[0]

    async def accept(self) -> None:
        """Open the port (again)."""
        await self._inside(self._listen())

    async def refuse(self) -> None:
        """Close the port: new connections are refused, open ones are reset."""
        await self._inside(self._shut())

    async def _inside(self, work: Any) -> None:
        """Run a coroutine on the server's loop."""
        if self._thread is None or self._loop is None:
            await work
        else:
            await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, self._loop))

    async def _listen(self) -> None:
        self._server = await listen(self._serve, "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]

    async def _shut(self) -> None:
        if self._server is not None:
            self._server.close()
            self._server = None
        for connection in list(self._open):
            connection.drop()
        await asyncio.sleep(0)

    def _run_loop(self) -> None:
        assert self._loop is not None
        asyncio.set_event_loop(self._loop)
        self._loop.run_forever()

    # one request

    async def _serve(self, connection: Connection, call: Call) -> None:
        if self._server is None:
            connection.close(reset=True)
            return
        path = call.path.partition("?")[0]
        if call.method == "GET" and path == "/v1/models":
            data = [{"id": name, "object": "model", "owned_by": "fake"} for name in self._models]
            connection.answer("200 OK", {"object": "list", "data": data})
        elif call.method == "POST" and path.endswith("/chat/completions"):
            await self._complete(connection, call)
        else:
            connection.answer("404 Not Found", {"error": {"message": "no such path"}})

    async def _complete(self, connection: Connection, call: Call) -> None:
        number = len(self.requests) + 1
        try:
            request = Request.of(
                call, number=number, at=time.time(), count_tokens=self._count_tokens
            )
        except BadRequest as error:
            connection.answer("400 Bad Request", {"error": {"message": str(error)}})
            return
        self.requests.append(request)
        self._open[connection] = request
        self.most_in_flight = max(self.most_in_flight, len(self._open))
        connection.on_gone = lambda: self._gone(connection, request)
        self._happened("request", request)
        try:
            request.reply = reply = replace(await self._choose(request), **self._pace)
            sending = Sending(
                connection=connection,
                request=request,
                reply=reply,
                released=lambda: request.number in self._released,
                progress=self._watch.changed,
            )
            outcome = await sending.run()
        except ClientLeft:
            self._gone(connection, request)
        except Exception as error:
            # A script that is wrong must fail its test, not look like a provider's fault.
            self.failures.append(error)
            self._ended(connection, request, "error")
            connection.close(reset=True)
        else:
            self._ended(connection, request, outcome)

    def _gone(self, connection: Connection, request: Request) -> None:
        if request.outcome == "open":
            request.gone_at = connection.gone_at
            request.outcome = "gone"
            self._open.pop(connection, None)
            self._happened("gone", request)

    def _ended(self, connection: Connection, request: Request, outcome: str) -> None:
        request.done_at = time.time()
        request.outcome = outcome
        self._open.pop(connection, None)
        self._happened(outcome, request)

    async def _choose(self, request: Request) -> Reply:
        for at, (schema, reply) in enumerate(self._queue):
            if schema in (None, request.schema):
                del self._queue[at]
                return reply
        script = self._script
        if isinstance(script, Mapping):
            player = script.get(f"{request.schema}:{request.part}") or script.get(request.schema)
        else:
            player = script
        chosen = (player or self.default)(request)
        return await chosen if inspect.isawaitable(chosen) else chosen

    def _happened(self, event: str, request: Request) -> None:
        self.on_event(event, request)
        self._watch.changed()


def _player(value: Player | Reply | Sequence[Reply], llm: FakeLLM) -> Player:
    if isinstance(value, Reply):
        return always(value)
    if isinstance(value, Sequence):
        return in_turn(*value, then=llm.answer_by_default)
    return value
