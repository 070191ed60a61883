"""Opaque cursors of lists: where a page ended, bound to its list and checked against damage.

A cursor holds the sort key of the last row, (created_at, id) or a seq; it grants nothing, so it is
not signed.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import re
from datetime import UTC, datetime, timedelta
from typing import TypeAlias

Key: TypeAlias = tuple[int | str, ...]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_LARGEST = 2**62


class BadCursor(ValueError):
    """The cursor was not given out by this list: 400 `invalid_cursor`."""


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
            raise BadCursor(cursor)
        key = tuple(json.loads(raw[6:]))
    except (binascii.Error, UnicodeError, ValueError, TypeError, RecursionError) as error:
        raise BadCursor(cursor) from error
    if (length and len(key) != length) or not all(map(_plausible, key)):
        raise BadCursor(cursor)
    return key


def _plausible(part: object) -> bool:
    if isinstance(part, str):
        return is_uuid(part)
    return type(part) is int and 0 <= part < _LARGEST


def encode_moment(scope: str, at: datetime, id_: str) -> str:
    """The cursor behind a row of a list sorted by time and id."""
    return encode(scope, (micros(at), id_))


def decode_moment(scope: str, cursor: str) -> tuple[datetime, str]:
    at, id_ = decode(scope, cursor, length=2)
    try:
        return moment(int(at)), str(id_)
    except (ValueError, OverflowError) as error:
        raise BadCursor(cursor) from error


def decode_seq(scope: str, cursor: str) -> int:
    (seq,) = decode(scope, cursor, length=1)
    if not isinstance(seq, int):
        raise BadCursor(cursor)
    return seq
