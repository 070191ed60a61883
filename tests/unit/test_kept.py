"""What is kept of texts that were read: each read once, and never more than there is room for."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from workflows.kinds.kept import CHARACTERS, characters, kept_by_text
from workflows.kinds.kind import SourceText


def test_a_text_is_read_once() -> None:
    read: list[str] = []

    @kept_by_text
    def length(text: str) -> int:
        read.append(text)
        return len(text)

    assert [length("one"), length("three"), length("one")] == [3, 5, 3]
    assert read == ["one", "three"]


def test_what_was_not_asked_for_longest_goes_when_there_is_no_room() -> None:
    read: list[str] = []

    @kept_by_text
    def first(text: str) -> str:
        read.append(text[:1])
        return text[:1]

    a, b, c = (letter * (CHARACTERS // 2) for letter in "abc")
    for text in (a, b, a, c, a, b):
        first(text)
    assert read == ["a", "b", "c", "b"]


def test_a_text_larger_than_the_room_is_kept_while_nothing_else_is_read() -> None:
    read: list[int] = []

    @kept_by_text
    def length(text: str) -> int:
        read.append(1)
        return len(text)

    large = "x" * (CHARACTERS + 1)
    assert length(large) == length(large)
    assert len(read) == 1


def test_sources_count_by_their_text() -> None:
    source = SourceText(id="1", name="n", media_type="text/plain", text="abcde")
    assert characters(((source, source), "ab", (1, ("c",)))) == 13


def test_threads_may_ask_at_once() -> None:
    @kept_by_text
    def length(text: str) -> int:
        return len(text)

    texts = ["x" * (CHARACTERS // 20 + n) for n in range(60)]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(length, texts * 3))
    assert found == [len(text) for text in texts] * 3
