"""The route by which a recording is heard."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from fastapi import APIRouter, Request
from starlette.responses import FileResponse, Response
from starlette.types import Message, Receive, Send
from starlette.types import Scope as ASGIScope

from api.files import recordings
from api.http.auth import needs
from api.http.errors import Refusal, problem
from api.http.paths import DocumentId
from api.http.principals import Principal, Scope
from api.http.state import request_id_of, state_of
from workflows.vocabulary import ErrorCode

router = APIRouter(tags=["documents"])
_REFUSED = (400, 416)
Reads = Annotated[Principal, needs(Scope.READ, content=True)]


class _Heard(FileResponse):
    """A range that cannot be had is refused as everything else is, not as plain text."""

    async def __call__(self, scope: ASGIScope, receive: Receive, send: Send) -> None:
        begun: list[Message] = []

        async def watch(message: Message) -> None:
            """Holds back the answer of a refusal, which another one replaces."""
            if message["type"] == "http.response.start" and message["status"] in _REFUSED:
                begun.append(message)
            if not begun:
                await send(message)

        await super().__call__(scope, receive, watch)
        if begun:
            status, code = begun[0]["status"], ErrorCode.INVALID_REQUEST
            headers = dict(self._kept(begun[0]))
            detail = "Range must be like bytes=0-499, and inside the recording"
            refusal = Refusal(status, code, detail, params={"header": "Range"}, headers=headers)
            answer = problem(request_id_of(Request(scope)), refusal)
            await answer(scope, receive, send)

    @staticmethod
    def _kept(start: Message) -> Iterator[tuple[str, str]]:
        """How long the recording is."""
        for name, value in start["headers"]:
            if name.lower() == b"content-range":
                yield "Content-Range", value.decode()


@router.get(
    "/api/documents/{document_id}/sources/{source_id}/audio",
    response_class=FileResponse,
    responses={200: {"content": {"audio/*": {}}}, 206: {"description": "the range asked for"}},
)
async def get_audio(
    document_id: DocumentId, source_id: str, request: Request, principal: Reads
) -> Response:
    """The recording behind a source, whole or in ranges."""
    state = state_of(request)
    found = await recordings.file_of(state.pool, document_id, source_id, "recording")
    path, stat, row = await recordings.kept_file(state.settings, found, "recording")
    return _Heard(
        path,
        media_type=row["media_type"],
        filename=row["name"],
        stat_result=stat,
        content_disposition_type="inline",
        headers={"ETag": f'"{row["sha256"]}"'},
    )
