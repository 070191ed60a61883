"""Cursors come back exact, and only to the list that gave them out."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from api.http import cursors

ID = "0192aaaa-0000-7000-8000-000000000001"


def test_a_cursor_brings_its_key_back_to_the_microsecond() -> None:
    at = datetime(2026, 3, 1, 10, 0, 0, 123457, tzinfo=UTC)
    assert cursors.decode_moment("runs", cursors.encode_moment("runs", at, ID)) == (at, ID)
    assert cursors.decode_seq("steps", cursors.encode("steps", (7,))) == 7
    assert cursors.decode_name("profiles", cursors.encode("profiles", ("周",))) == "周"
    assert cursors.decode_place("sources", cursors.encode("sources", (0, ID))) == (0, ID)


def test_a_damaged_or_foreign_cursor_is_refused() -> None:
    good = cursors.encode_moment("runs", datetime.now(UTC), ID)
    foreign = cursors.encode_moment("documents", datetime.now(UTC), ID)
    for bad in ("zzz", "", "é", good[:-1], good + "A", good + "=", good.swapcase(), foreign):
        with pytest.raises(cursors.BadCursor) as refused:
            cursors.decode_moment("runs", bad)
        assert (refused.value.status_code, refused.value.code) == (400, "invalid_cursor")


def test_a_cursor_of_another_shape_or_size_is_refused() -> None:
    shapes: tuple[cursors.Key, ...] = (
        (1,),
        ("x", ID),
        (1, "x"),
        (1, ID, 1),
        (-1, ID),
        (2**62, ID),
        (2**61, ID),
    )
    for key in shapes:
        with pytest.raises(cursors.BadCursor):
            cursors.decode_moment("runs", cursors.encode("runs", key))
    for other in (("x",), (True,), (2**31,)):
        with pytest.raises(cursors.BadCursor):
            cursors.decode_seq("steps", cursors.encode("steps", other))
