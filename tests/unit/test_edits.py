"""Edits change what was complained about and nothing else."""

from __future__ import annotations

import pytest

from tests.unit.kind_material import issue
from workflows.kinds.edits import Ground, apply_edits
from workflows.kinds.kind import Refined

SECTIONS = (
    "# Minutes\n\n## Decisions\n\n"
    + "".join(f"- Decision number {n} stands as it was taken by everybody.\n" for n in range(1, 13))
    + "\n## Actions\n\n"
    + "".join(f"- Person {n}: does the thing that was agreed.\n" for n in range(1, 10))
    + "\n## Open questions\n\n- Who pays?\n- When?\n"
)


def edit(find: str, replace: str, *resolves: str) -> dict[str, object]:
    return {"find": find, "replace": replace, "resolves": list(resolves)}


def refine(body: str, *edits: dict[str, object], **ground: object) -> Refined:
    return apply_edits(Ground(body=body, **ground), edits)  # type: ignore[arg-type]


def test_an_edit_changes_its_passage_and_leaves_every_other_byte() -> None:
    body = "One  is 5.\n\n\tTwo is 6. \nThree is 7.\n"
    refined = refine(body, edit("Two is 6", "Two is 8", "I1"), issues=(issue(1, "is 6"),))
    assert refined.body == body.replace("Two is 6", "Two is 8")
    assert refined.resolved == (1,)
    assert refined.refused == {}


def test_a_passage_that_stands_twice_is_ambiguous_and_one_that_is_absent_not_found() -> None:
    refined = refine(
        "aaa. Same. Same.",
        edit("Same", "Other", "I1"),
        edit("aa", "b", "I1"),
        edit("missing", "b", "I1"),
        issues=(issue(1, "Same"),),
    )
    assert refined.body == "aaa. Same. Same."
    assert refined.refused == {"ambiguous": 2, "not_found": 1}


def test_all_edits_are_read_against_the_body_before_any_of_them() -> None:
    refined = refine(
        "Price 5, cost 6.",
        edit("Price 5", "cost 6", "I1"),
        edit("cost 6", "cost 7", "I2"),
        issues=(issue(1, "Price 5"), issue(2, "cost 6")),
    )
    assert refined.body == "cost 6, cost 7."


def test_of_two_edits_that_overlap_the_first_in_the_text_wins_whatever_their_order() -> None:
    one, two = edit("big red", "small red", "I1"), edit("red house", "red hut", "I1")
    issues = (issue(1, "big red house"),)
    for edits in ((one, two), (two, one)):
        refined = refine("A big red house.", *edits, issues=issues)
        assert refined.body == "A small red house."
        assert refined.refused == {"overlap": 1}


def test_an_edit_of_a_locked_passage_is_refused_and_the_lock_stays_identical() -> None:
    body = "The board agreed. The price is 6."
    refined = refine(
        body,
        edit("The board agreed. The price is 6.", "The price is 5.", "I1"),
        edit("price is 6", "price is 5", "I1"),
        issues=(issue(1, "price is 6"),),
        locks=("The board agreed.",),
    )
    assert refined.body == "The board agreed. The price is 5."
    assert refined.refused == {"locked": 1}


def test_line_ends_of_windows_survive_and_new_lines_get_them() -> None:
    body = "# A\r\n\r\n- Price is 6\r\n- Other\r\n"
    refined = refine(
        body, edit("- Price is 6\n- Other", "- Price is 5\n- Other", "I1"), issues=(issue(1, "6"),)
    )
    assert refined.body == "# A\r\n\r\n- Price is 5\r\n- Other\r\n"


def test_typographic_quotes_and_spacing_of_a_model_still_find_the_passage() -> None:
    body = "She said “it’s 6\nEuros” – **today**."
    refined = refine(
        body, edit('"it\'s 6 Euros" - today', "“it’s 5 Euros”", "I1"), issues=(issue(1, body),)
    )
    assert refined.body == "She said “it’s 5 Euros”**."


@pytest.mark.parametrize(
    ("find", "replace"),
    [
        (SECTIONS, SECTIONS[: SECTIONS.index("- Decision number 4")]),
        (SECTIONS, SECTIONS[:200] + "\n(rest unchanged)\n"),
        ("- Person 2: does the thing that was agreed.\n", ""),
        ("\n## Open questions\n\n- Who pays?\n- When?\n", ""),
        ("## Actions", "Actions"),
    ],
)
def test_an_edit_that_loses_what_no_issue_asked_to_remove_is_refused(
    find: str, replace: str
) -> None:
    refined = refine(SECTIONS, edit(find, replace, "I1"), issues=(issue(1, "Person 1:"),))
    assert refined.body == SECTIONS
    assert refined.refused == {"lost_content": 1}


def test_an_item_that_was_complained_about_may_go() -> None:
    line = "- Person 2: does the thing that was agreed.\n"
    refined = refine(
        SECTIONS, edit(line, "", "I4"), issues=(issue(4, "Person 2: does", suggestion=""),)
    )
    assert refined.body == SECTIONS.replace(line, "")
    assert refined.resolved == (4,)


def test_a_rewritten_paragraph_may_not_touch_the_sentence_beside_the_complaint() -> None:
    body = "The price is 6 Euros. The profit is 50 million."
    refined = refine(
        body,
        edit(body, "The price is 5 Euros. The profit is 40 million.", "I1"),
        issues=(issue(1, "6 Euros"),),
    )
    assert refined.body == body
    assert refined.refused == {"unasked": 1}


def test_an_edit_without_an_issue_is_refused_unless_a_person_gave_instructions() -> None:
    asked = (edit("blue", "red"),)
    assert refine("It is blue.", *asked).refused == {"unasked": 1}
    assert refine("It is blue.", *asked, free=True).body == "It is red."


def test_a_missing_item_may_be_added_below_the_heading_that_was_quoted() -> None:
    refined = refine(
        SECTIONS,
        edit("## Open questions\n", "## Open questions\n\n- Who tests it?\n", "I2"),
        issues=(issue(2, "## Open questions"),),
    )
    assert "- Who tests it?" in refined.body
    assert refined.resolved == (2,)


def test_an_issue_is_resolved_when_an_edit_of_another_takes_its_quote_away() -> None:
    refined = refine(
        "We meet at six on Monday.",
        edit("at six on Monday", "at five on Tuesday", "I1"),
        issues=(issue(1, "at six"), issue(2, "Monday"), issue(3, "We meet")),
    )
    assert refined.resolved == (1, 2)


def test_an_issue_that_does_not_exist_cannot_be_resolved() -> None:
    refined = refine("It is 6.", edit("is 6", "is 5", "I9", "x", "I1"), issues=(issue(1, "6"),))
    assert refined.resolved == (1,)
