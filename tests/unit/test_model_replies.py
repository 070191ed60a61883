"""A reply is read while it arrives; a broken or shortened one never passes for a complete one."""

import json
import time
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from activities.model.replies import ReplyEnd, ReplyParser
from activities.model.schema import InvalidItemError, fitted, item_schema
from workflows.kinds.schemas import ITINERARY, REFINE, REVIEW

Item = Mapping[str, Any]
ISSUE = {
    "category": "number",
    "severity": "major",
    "quote": 'the "26" {Euros} [sic], 会议 😀 \\ end',
    "problem": "not said",
    "suggestion": None,
    "evidence": ["T12"],
}
DAY = {
    "day": 1,
    "city": "Lyon",
    "entries": [{"start": "09:00", "end": "10:00", "kind": "meal", "name": "Brunch", "cost": 12.5}],
}


def edit(find: str) -> Item:
    return {"find": find, "replace": "b", "resolves": ["I1"]}


def read(
    *pieces: str, schema: Mapping[str, Any] = REFINE
) -> tuple[list[Item], ReplyEnd, ReplyParser]:
    items: list[Item] = []
    parser = ReplyParser(schema, items.append)
    for piece in pieces:
        parser.feed(piece)
    return items, parser.end(), parser


def reply(*items: Item, **extra: Any) -> str:
    return json.dumps({"items": list(items), **extra}, ensure_ascii=False)


def test_each_item_is_handed_on_with_its_closing_brace() -> None:
    seen: list[Item] = []
    parser = ReplyParser(REVIEW, seen.append)
    text = reply(ISSUE, ISSUE, score=80)
    counts = []
    for char in text:
        parser.feed(char)
        counts.append(len(seen))
    first = text.index("}, {")
    assert counts[first - 1 : first + 1] == [0, 1]
    assert seen == [ISSUE, ISSUE]
    assert parser.end() == ReplyEnd(complete=True, fault=None, extras={"score": 80})


@settings(deadline=None, max_examples=60)
@given(st.data())
def test_any_cut_of_the_text_gives_the_same_reply(data: st.DataObject) -> None:
    quote = data.draw(st.text(max_size=30).filter(lambda text: "\x00" not in text))
    spaced = data.draw(st.sampled_from([None, 1]))
    ascii_only = data.draw(st.booleans())
    items = [{**ISSUE, "quote": quote}, ISSUE]
    text = json.dumps({"score": 5, "items": items}, ensure_ascii=ascii_only, indent=spaced)
    pieces, at = [], 0
    while at < len(text):
        size = data.draw(st.integers(1, 40))
        pieces.append(text[at : at + size])
        at += size
    found, end, _ = read(*pieces, schema=REVIEW)
    assert found == items
    assert end == ReplyEnd(complete=True, fault=None, extras={"score": 5})


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 400))
def test_no_shortened_reply_is_complete(length: int) -> None:
    text = reply(ISSUE, ISSUE, score=80)
    items, end, _ = read(text[: min(length, len(text) - 1)], schema=REVIEW)
    assert not end.complete
    assert items == [ISSUE] * len(items)


@pytest.mark.parametrize(
    ("text", "kept", "fault"),
    [
        ("", 0, "no_object"),
        ("I can't help with that.", 0, "no_object"),
        ("[" + reply(edit("a")) + "]", 0, "not_an_object"),
        (reply(edit("a")) + reply(edit("b")), 1, "two_objects"),
        (reply(edit("a")) + "\n]", 1, "two_objects"),
        ('{"edits": []}', 0, "no_items"),
        ('{"items": {}}', 0, "no_items"),
        ('{"items": null}', 0, "no_items"),
        ('{"items": [1]}', 0, "invalid_item"),
        ('{"items": ["a"]}', 0, "invalid_item"),
        ('{"items": [0]}', 0, "invalid_item"),
        ('{"items": [[{"find": "a"}]]}', 0, "invalid_item"),
        ('{"items": [], "items": []}', 0, "broken_json"),
        (reply(edit("a"))[:-2] + ",]}", 1, "broken_json"),
        (reply(edit("a")).replace('"items"', "items"), 0, "broken_json"),
        (reply(edit("a"), edit("b")).replace("}, {", "} {"), 2, "broken_json"),
        ('{"items": [], "score": NaN}', 0, "broken_json"),
        ('{"items": [{"find": NaN, "replace": "", "resolves": []}]}', 0, "invalid_item"),
        (
            '{"items": [{"find": "a", "find": "b", "replace": "", "resolves": []}]}',
            0,
            "invalid_item",
        ),
        ('{"items": [{"find": 1, "replace": "", "resolves": []}]}', 0, "invalid_item"),
        ('{"items": [{"find": "a", "resolves": []}]}', 0, "invalid_item"),
        ('{"items": [' + "[" * 100, 0, "too_deep"),
        ('{"items": [{"find": "a", "replace": "b"', 0, "unclosed"),
        ('{"items": [{"find": "a\\', 0, "unclosed"),
    ],
)
def test_what_is_no_plain_reply_is_never_complete(text: str, kept: int, fault: str) -> None:
    items, end, _ = read(text)
    assert (len(items), end.complete, end.fault) == (kept, False, fault)


def test_items_around_an_invalid_one_are_kept() -> None:
    items, end, parser = read(reply(edit("a"), {"find": 5}, edit("c"), score=1))
    assert [item["find"] for item in items] == ["a", "c"]
    assert (end.complete, end.fault, parser.items, parser.invalid) == (False, "invalid_item", 3, 1)


@pytest.mark.parametrize(
    "around",
    [
        "```json\n%s\n```",
        "Here is the reply:\n\n%s\n\nI hope it helps.",
        "<think>is it {1} or [2]? \n</think>\n%s",
        "\n <thinking>{</thinking>%s",
        "\ufeff%s\n",
    ],
)
def test_text_fences_and_thinking_around_the_object_are_skipped(around: str) -> None:
    text = around % reply(edit("a"))
    for size in (1, 3, len(text)):
        pieces = [text[at : at + size] for at in range(0, len(text), size)]
        items, end, _ = read(*pieces)
        assert (items, end.complete) == ([edit("a")], True)


def test_characters_no_encoder_can_hold_are_replaced_in_escapes() -> None:
    text = '{"items": [{"find": "a\\u0000b\\ud83d\\ude00", "replace": "\\ud83d!", "resolves": []}]}'
    items, end, _ = read(text)
    assert items == [{"find": "ab😀", "replace": "\ufffd!", "resolves": []}]
    assert end.complete


def test_line_breaks_inside_strings_are_kept() -> None:
    items, end, _ = read('{"items": [{"find": "a\nb", "replace": "\t", "resolves": []}]}')
    assert (items[0]["find"], items[0]["replace"], end.complete) == ("a\nb", "\t", True)


def test_nested_objects_belong_to_their_item() -> None:
    items, end, _ = read(reply(DAY, {**DAY, "day": 2}), schema=ITINERARY)
    assert [item["day"] for item in items] == [1, 2]
    assert end.complete


def test_an_items_list_that_is_not_at_the_top_hands_on_nothing() -> None:
    items, end, _ = read('{"data": {"items": [{"find": "a", "replace": "b", "resolves": []}]}}')
    assert (items, end.fault) == ([], "no_items")


def test_other_fields_are_left_out_when_they_do_not_fit() -> None:
    _, fits, _ = read('{"score": 90, "items": []}', schema=REVIEW)
    _, too_high, _ = read('{"score": 900, "items": [], "note": "x"}', schema=REVIEW)
    assert (fits.extras, too_high.extras) == ({"score": 90}, {"note": "x"})
    assert too_high.complete


def test_errors_of_the_receiver_pass_through() -> None:
    def refuse(_item: Item) -> None:
        raise LookupError("full")

    with pytest.raises(LookupError):
        ReplyParser(REFINE, refuse).feed(reply(edit("a")))


def test_time_grows_with_the_length_alone() -> None:
    def seconds(count: int) -> float:
        text = reply({**edit("x"), "replace": "word " * count})
        parser = ReplyParser(REFINE, lambda _item: None)
        began = time.process_time()
        for at in range(0, len(text), 4):
            parser.feed(text[at : at + 4])
        assert parser.end().complete
        return time.process_time() - began

    seconds(100)
    # Ten times the text may cost ten times the time; parsing anew per chunk would cost a hundred.
    assert seconds(40_000) < 40 * max(seconds(4_000), 0.001)


@pytest.mark.parametrize(
    ("value", "schema", "expected"),
    [
        ({"a": 1, "z": 2}, {"properties": {"a": {}}, "additionalProperties": False}, {"a": 1}),
        ({"z": 2}, {"properties": {"a": {}}}, {"z": 2}),
        ({}, {"properties": {"a": {"type": ["string", "null"]}}, "required": ["a"]}, {"a": None}),
        (3.0, {"type": "integer"}, 3.0),
        ("x", {"anyOf": [{"type": "null"}, {"type": "string"}]}, "x"),
    ],
)
def test_values_that_satisfy_the_schema_pass(
    value: Any, schema: Mapping[str, Any], expected: Any
) -> None:
    assert fitted(value, schema) == expected


@pytest.mark.parametrize(
    ("value", "schema", "pointer"),
    [
        (True, {"type": "integer"}, "/"),
        (True, {"type": "number"}, "/"),
        (1.5, {"type": "integer"}, "/"),
        ("x", {"enum": ["y"]}, "/"),
        ("x", {"const": "y"}, "/"),
        ("x", {"anyOf": [{"type": "null"}, {"type": "object"}]}, "/"),
        (101, {"maximum": 100}, "/"),
        ("", {"minLength": 1}, "/"),
        ([1, 2], {"maxItems": 1}, "/"),
        ([1, "x"], {"items": {"type": "integer"}}, "/1"),
        (
            {"a": [{"b": 1}]},
            {"properties": {"a": {"items": {"properties": {"b": {"type": "null"}}}}}},
            "/a/0/b",
        ),
        ({}, {"properties": {"a": {"type": "string"}}, "required": ["a"]}, "/"),
    ],
)
def test_values_that_do_not_satisfy_the_schema_are_refused(
    value: Any, schema: Mapping[str, Any], pointer: str
) -> None:
    with pytest.raises(InvalidItemError, match=f"^{pointer}$"):
        fitted(value, schema)


def test_a_reply_schema_without_items_takes_any_object() -> None:
    assert item_schema({"type": "object"}) == {}
    assert item_schema(REFINE)["required"] == ["find", "replace", "resolves"]
