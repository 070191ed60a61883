"""How client commands reach the API: the address, one key per POST, errors as exit codes.

Imports nothing of the server; a command starts fast and works against any Redraft.
"""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import IO, Any
from urllib.parse import urlsplit

import httpx2

from api.cli.language import tell
from deploy.settings import default_root, stack_variables

OK, USAGE, REFUSED, RUN_FAILED, UNREACHABLE = 0, 2, 3, 4, 5
DEFAULT_URL = "http://127.0.0.1:8430"
Json = dict[str, Any]
File = tuple[str, tuple[str, IO[bytes] | bytes, str]]
"""Field, and name, content and media type of a file in it."""
_UPLOAD = httpx2.Timeout(60.0, connect=5.0, read=600.0)
"""A recording of hours is looked through before the answer."""


class UsageError(Exception):
    """The command line cannot be carried out as written (exit 2)."""


class Refused(Exception):
    """The API answered with a problem (exit 3; 5 when the service itself is not able)."""

    def __init__(self, status: int, problem: Json) -> None:
        super().__init__(problem.get("detail") or problem.get("title") or f"status {status}")
        self.status = status
        self.problem = problem

    @property
    def code(self) -> str:
        return str(self.problem.get("code") or "internal")


class Unreachable(Exception):
    """Nobody answers there (exit 5)."""

    def __init__(self, url: str, why: str) -> None:
        super().__init__(tell("{url} does not answer: {why}", url=url, why=why))


@dataclass(frozen=True, kw_only=True)
class Address:
    url: str
    key: str = field(repr=False)


def find_address(url: str | None, environment: Mapping[str, str]) -> Address:
    """`--url`, else REDRAFT_URL, else the running stack's, else the default port."""
    stack: Mapping[str, str] = {}
    chosen = url or environment.get("REDRAFT_URL", "")
    if not chosen:
        stack = stack_variables(default_root(environment))
        chosen = stack.get("REDRAFT_URL") or DEFAULT_URL
    if urlsplit(chosen).scheme not in ("http", "https") or not urlsplit(chosen).hostname:
        told = {"given": repr(chosen), "example": DEFAULT_URL}
        raise UsageError(tell("{given} is no address; give it like {example}", **told))
    key = environment.get("REDRAFT_API_KEY") or stack.get("REDRAFT_API_KEY", "")
    return Address(url=chosen.rstrip("/"), key=key)


def _is_loopback(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    return host in ("localhost", "::1") or host.startswith("127.")


class Client:
    """Requests to one API. A GET is repeated once, a POST once with the same key."""

    def __init__(self, address: Address, *, timeout: float = 30.0, pause: float = 0.5) -> None:
        headers = {"Accept": "application/json", "User-Agent": "redraft-cli"}
        if address.key:
            headers["Authorization"] = f"Bearer {address.key}"
        self.url = address.url
        self._pause = pause
        self._http = httpx2.Client(
            base_url=address.url,
            headers=headers,
            timeout=httpx2.Timeout(timeout, connect=5.0),
            trust_env=not _is_loopback(address.url),
            # Reading the certificates takes longer than the request, and http needs none.
            verify=address.url.startswith("https:"),
        )

    def close(self) -> None:
        self._http.close()

    def get(self, path: str, **params: object) -> Json:
        found: Json = self._answer("GET", path, params=params).json()
        return found

    def get_raw(self, path: str, **params: object) -> httpx2.Response:
        """The answer itself: an export is bytes."""
        return self._answer("GET", path, params=params, headers={"Accept": "*/*"})

    def post(self, path: str, body: Mapping[str, object] | None = None) -> Json:
        """One effect, however often the connection is lost on the way."""
        return self._post(path, {"Idempotency-Key": str(uuid.uuid4())}, json=dict(body or {}))

    def _post(self, path: str, headers: Mapping[str, str], **request: Any) -> Json:
        for wait in (self._pause, 2 * self._pause, 4 * self._pause, None):
            try:
                found: Json = self._answer("POST", path, headers=headers, **request).json()
                return found
            except Refused as refused:
                # The first request is still at work behind the connection that was lost.
                if refused.code != "idempotency_in_progress" or wait is None:
                    raise
                time.sleep(wait)
        raise AssertionError("the last try returns or raises")

    def upload(
        self,
        path: str,
        fields: Mapping[str, object],
        files: Sequence[File],
        query: Mapping[str, str] | None = None,
    ) -> Json:
        """One form, streamed; sent again, byte for byte, where the answer was lost."""
        key = str(uuid.uuid4())
        headers = {
            "Idempotency-Key": key,
            "Content-Type": f"multipart/form-data; boundary={key}",
        }
        form = {"data": dict(fields), "files": list(files), "params": dict(query or {})}
        return self._post(path, headers, **form, timeout=_UPLOAD)

    def put(self, path: str, body: Mapping[str, object]) -> Json:
        """Sent again where the answer was lost: it says how things shall be."""
        found: Json = self._answer("PUT", path, json=dict(body)).json()
        return found

    def patch(self, path: str, body: Mapping[str, object]) -> Json:
        found: Json = self._answer("PATCH", path, json=dict(body)).json()
        return found

    def delete(self, path: str) -> None:
        self._answer("DELETE", path)

    def pages(self, path: str, **params: object) -> Iterator[Json]:
        """Every item of a list, page after page."""
        cursor: str | None = None
        while True:
            page = self.get(path, **params, **({"cursor": cursor} if cursor else {}))
            yield from page["items"]
            cursor = page.get("next_cursor")
            if not cursor:
                return

    def events(self, run_id: str, after: int) -> Iterator[httpx2.ServerSentEvent]:
        """One connection to the event stream: ends when the server closes it, or with 204."""
        headers = {"Accept": "text/event-stream", "Last-Event-ID": str(after)}
        timeout = httpx2.Timeout(10.0, read=60.0)
        path = f"/api/runs/{run_id}/events"
        try:
            with self._http.stream("GET", path, headers=headers, timeout=timeout) as response:
                if response.status_code == 204:
                    return
                if response.is_error:
                    response.read()
                    raise _problem(response)
                yield from httpx2.EventSource(response)
        except (httpx2.TransportError, httpx2.SSEError) as error:
            raise Unreachable(self.url, _why(error)) from error

    def _answer(self, method: str, path: str, **request: Any) -> httpx2.Response:
        for last in (False, True):
            try:
                for _, (_, content, _) in request.get("files", ()):
                    if not isinstance(content, bytes):
                        content.seek(0)
                response = self._http.request(method, path, **request)
                break
            except (httpx2.TransportError, httpx2.InvalidURL) as error:
                if last or isinstance(error, httpx2.InvalidURL):
                    raise Unreachable(self.url, _why(error)) from error
                time.sleep(self._pause)
        if response.is_error:
            raise _problem(response)
        if response.is_redirect:
            to = response.headers.get("location")
            raise Unreachable(self.url, tell("it redirects to {address}", address=to))
        return response


def _why(error: Exception) -> str:
    if isinstance(error, httpx2.ConnectError):
        return tell("connection refused")
    if isinstance(error, httpx2.TimeoutException):
        return tell("no answer in time")
    return tell("the connection was lost ({error})", error=type(error).__name__)


def _problem(response: httpx2.Response) -> Exception:
    """A problem+json as it stands; anything else is somebody who is no Redraft."""
    try:
        found = response.json()
    except (json.JSONDecodeError, UnicodeDecodeError):
        found = None
    if not isinstance(found, dict) or "code" not in found:
        return Unreachable(
            str(response.request.url.copy_with(query=None)),
            tell("answers {status}, but not as Redraft does", status=response.status_code),
        )
    return Refused(response.status_code, found)
