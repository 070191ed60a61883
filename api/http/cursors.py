"""Opaque cursors of lists: where a page ended, bound to its list and checked against damage.

A cursor holds the sort key of the last row, (created_at, id) or a seq; it grants nothing, so it is
not signed.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from datetime import UTC, datetime, timedelta
from typing import TypeAlias

from api.http.errors import Refusal
from workflows.vocabulary import ErrorCode

Key: TypeAlias = tuple[int | str, ...]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_LARGEST, _LARGEST_NUMBER, _LONGEST = 2**62, 2**31 - 1, 300


class BadCursor(Refusal):
    """The cursor was not given out by this list."""

    def __init__(self, name: str = "cursor", detail: str = "not a cursor of this list") -> None:
        code = ErrorCode.INVALID_CURSOR
        super().__init__(400, code, detail, errors=[(f"/{name}", str(code), detail)])


def is_uuid(text: str) -> bool:
    """Whether this may be an id at all; anything else is simply not found."""
    return _UUID.fullmatch(text) is not None


def micros(at: datetime) -> int:
    """Microseconds since 1970, exact (a float of seconds would lose the last digit)."""
    return (at - _EPOCH) // timedelta(microseconds=1)


def moment(value: int) -> datetime:
    return _EPOCH + timedelta(microseconds=value)


def _check(scope: str, payload: bytes) -> bytes:
    return hashlib.blake2s(scope.encode() + b"\0" + payload, digest_size=6).digest()


def encode(scope: str, key: Key) -> str:
    """The cursor behind the row with this sort key in the list `scope`."""
    payload = json.dumps(key, separators=(",", ":")).encode()
    return base64.urlsafe_b64encode(_check(scope, payload) + payload).decode().rstrip("=")


def decode(scope: str, cursor: str, *, length: int = 0) -> Key:
    """The sort key; raises BadCursor. `length` is the number of its parts, 0 = any."""
    try:
        raw = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
        if encode(scope, tuple(json.loads(raw[6:]))) != cursor:
            raise BadCursor
        key = tuple(json.loads(raw[6:]))
    except (ValueError, TypeError, RecursionError) as error:
        raise BadCursor from error
    if (length and len(key) != length) or not all(map(_plausible, key)):
        raise BadCursor
    return key


def _plausible(part: object) -> bool:
    if isinstance(part, str):
        return 0 < len(part) <= _LONGEST and "\0" not in part
    return type(part) is int and 0 <= part < _LARGEST


def encode_moment(scope: str, at: datetime, id_: str) -> str:
    """The cursor behind a row of a list sorted by time and id."""
    return encode(scope, (micros(at), id_))


def decode_moment(scope: str, cursor: str) -> tuple[datetime, str]:
    at, id_ = decode_place(scope, cursor, most=_LARGEST)
    try:
        return moment(at), id_
    except OverflowError as error:
        raise BadCursor from error


def decode_seq(scope: str, cursor: str) -> int:
    """The cursor of a list sorted by a number."""
    (seq,) = decode(scope, cursor, length=1)
    if not isinstance(seq, int) or seq > _LARGEST_NUMBER:
        raise BadCursor
    return seq


def decode_name(scope: str, cursor: str) -> str:
    """The cursor of a list sorted by name."""
    (name,) = decode(scope, cursor, length=1)
    if not isinstance(name, str):
        raise BadCursor
    return name


def decode_place(scope: str, cursor: str, *, most: int = _LARGEST_NUMBER) -> tuple[int, str]:
    """The cursor of a list sorted by a number and id."""
    place, id_ = decode(scope, cursor, length=2)
    if not (isinstance(place, int) and place <= most and isinstance(id_, str) and is_uuid(id_)):
        raise BadCursor
    return place, id_
