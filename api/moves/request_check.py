"""Refuses a request that its kind cannot begin to plan, before anything is stored."""

from __future__ import annotations

from datetime import UTC, datetime

from api.http import requests
from api.http.errors import Refusal
from workflows.kinds.kind import Kind, Material, SourceText
from workflows.requesting import request_problems
from workflows.vocabulary import ErrorCode

SOURCES = "/sources"


def check_request(kind: Kind, wanted: requests.NewDocument, *, recorded: bool) -> None:
    """Raises 422 with a pointer and a sentence for each problem. `recorded`: a recording comes with
    it, whose transcript will be the source."""
    material = Material(
        title=wanted.title,
        language=wanted.language,
        attributes={name: value for name, value in wanted.attributes.items() if value is not None},
        sources=tuple(
            SourceText(id=str(at), name=source.name, media_type=source.media_type, text=source.text)
            for at, source in enumerate(wanted.sources)
        ),
    )
    problems = request_problems(kind, material, datetime.now(UTC).date())
    problems = [one for one in problems if not (recorded and one[0] == SOURCES)]
    if problems:
        raise Refusal(
            422,
            ErrorCode.INVALID_REQUEST,
            problems[0][1],
            errors=[(pointer, str(ErrorCode.INVALID_REQUEST), text) for pointer, text in problems],
        )
