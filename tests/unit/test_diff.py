"""The comparison of texts: what it marks, that it loses nothing, and what it costs."""

from __future__ import annotations

import random
import time

from hypothesis import given, settings
from hypothesis import strategies as st

from api.differences import Difference, Piece, difference


def spelled(found: Difference, without: str) -> str:
    return "".join(p.text for hunk in found.hunks for p in hunk.pieces if p.op != without)


def marked(found: Difference) -> list[tuple[str, str]]:
    return [(p.op, p.text) for hunk in found.hunks for p in hunk.pieces if p.op != "equal"]


def test_equal_texts_are_one_equal_hunk_and_empty_ones_none() -> None:
    found = difference("# A\n\n- b\n", "# A\n\n- b\n")
    assert [hunk.pieces for hunk in found.hunks] == [(Piece(op="equal", text="# A\n\n- b\n"),)]
    assert difference("", "").hunks == ()


def test_a_changed_word_is_marked_whole_and_alone() -> None:
    old = "# Minutes\n\n- We meet on Thursday at 10:30. Ana brings the box.\n- Second.\n"
    new = "# Minutes\n\n- We meet on Saturday at 11:30. Ana brings the box.\n- Second.\n"
    found = difference(old, new)
    assert found.level == "words"
    assert marked(found) == [
        ("delete", "Thursday"),
        ("insert", "Saturday"),
        ("delete", "10:30"),
        ("insert", "11:30"),
    ]
    assert [(hunk.old, hunk.new) for hunk in found.hunks] == [(1, 1), (3, 3), (4, 4)]


def test_a_changed_chinese_word_is_marked_as_a_word() -> None:
    found = difference("我们周四开会。质量很好。\n", "我们周六开会。质量很好。\n")
    assert marked(found) == [("delete", "周四"), ("insert", "周六")]


def test_a_new_or_removed_block_is_an_own_hunk() -> None:
    old, new = "- one\n- two\n- three\n", "- one\n- three\n- four\n"
    assert marked(difference(old, new)) == [("delete", "- two\n"), ("insert", "- four\n")]
    line = [(hunk.old, hunk.new) for hunk in difference(old, new).hunks]
    assert line == [(1, 1), (2, 2), (3, 2), (4, 3)]


def test_sentences_with_little_in_common_are_replaced_as_a_whole() -> None:
    found = difference("The budget is twelve thousand.\n", "Nobody came to the party, sadly.\n")
    assert [op for op, _ in marked(found)] == ["delete", "insert"]


def test_a_line_replaced_by_another_one_is_no_mosaic_of_small_words() -> None:
    for old, new in (
        ("- We order 25 units for the test by Friday.\n", "- We meet at the office for lunch.\n"),
        ("- Ana calls the client about the price.\n", "- Ben tells the team about the new plan.\n"),
        ("- 我们下周提交报告给客户。\n", "- 我们需要确认会议的预算。\n"),
    ):
        assert [op for op, _ in marked(difference(old, new))] == ["delete", "insert"], new
    more = "- We ship it on Friday, if the buttons have come from Ningbo by then and are red.\n"
    assert [op for op, _ in marked(difference("- We ship it on Friday.\n", more))] == ["insert"]


def test_a_space_between_two_changed_words_belongs_to_the_change() -> None:
    found = difference("We saw red cars on the road.\n", "We saw blue vans on the road.\n")
    assert marked(found) == [("delete", "red cars"), ("insert", "blue vans")]


def test_a_table_row_and_a_fence_are_compared_inside_their_bounds() -> None:
    old = "| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |\n\n```\n- x\n- y\n```\n"
    new = old.replace("| 3 | 4 |", "| 3 | 5 |")
    found = difference(old, new)
    assert marked(found) == [("delete", "4"), ("insert", "5")]
    assert len(found.hunks) == 3


texts = st.text(alphabet=st.sampled_from(list("ab. \n-#|`>。周四\r\t1")), max_size=60)


@settings(max_examples=150, deadline=None)
@given(texts, texts)
def test_the_pieces_spell_both_texts_exactly(old: str, new: str) -> None:
    found = difference(old, new)
    assert spelled(found, "insert") == old
    assert spelled(found, "delete") == new
    assert all(p.text for hunk in found.hunks for p in hunk.pieces)


def text_of(characters: int, seed: int, *, chinese: bool = False) -> list[str]:
    chance = random.Random(seed)
    common = ["预算", "质量", "会议", "下周", "报告", "客户", "确认", "提交", "我们", "需要"]
    words = common if chinese else [f"word{n}" for n in range(400)]
    lines: list[str] = []
    size = 0
    while size < characters:
        inner = chance.choices(words, k=12)
        lines.append("- " + ("".join(inner) + "。" if chinese else " ".join(inner) + ".") + "\n")
        size += len(lines[-1])
    return lines


def test_sixty_thousand_characters_take_well_under_a_third_of_a_second() -> None:
    for chinese in (False, True):
        lines = text_of(60_000, 1, chinese=chinese)
        changed = [
            line.replace("word1", "other").replace("预算", "成本") if n % 20 == 0 else line
            for n, line in enumerate(lines)
        ]
        difference("周四。\n", "周六。\n")  # loads the dictionary
        began = time.process_time()
        found = difference("".join(lines), "".join(changed))
        assert time.process_time() - began < 0.3
        assert found.level == "words"
        assert marked(found)


def test_texts_with_nothing_in_common_stop_at_sentences_and_say_so() -> None:
    old = "".join(text_of(150_000, 2, chinese=True))
    new = "".join(text_of(150_000, 3, chinese=True))
    began = time.process_time()
    found = difference(old, new)
    assert time.process_time() - began < 3
    assert found.level == "sentences"
    assert spelled(found, "delete") == new


def test_neighbouring_lines_are_changes_of_their_own() -> None:
    old = "- Ship item 1 on May 2.\n- Ana sends it.\n- Stays.\n"
    new = "- Ship item 1 on May 3.\n- Bo pays all of this.\n- Stays.\n"
    assert [len(hunk.pieces) > 1 for hunk in difference(old, new).hunks] == [True, True, False]
    more = "- Ship item 1 on May 3.\n- Quite another one.\n- Ana sends it now.\n- Stays.\n"
    hunks = difference(old, more).hunks
    assert [hunk.pieces[0].op == "insert" for hunk in hunks] == [False, True, False, False]
    for text in (new, more):
        pieces = [piece for hunk in difference(old, text).hunks for piece in hunk.pieces]
        assert "".join(piece.text for piece in pieces if piece.op != "insert") == old
        assert "".join(piece.text for piece in pieces if piece.op != "delete") == text
