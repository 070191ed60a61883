"""Edits in hard places: deleted complaints, tables, lists, scripts, long bodies, rewrites."""

from __future__ import annotations

import random
import time
from dataclasses import replace
from typing import Any

import pytest

from tests.unit.kind_material import issue, work
from workflows.kinds import load_kinds
from workflows.kinds.edits import Ground, apply_edits, read_rewrite
from workflows.kinds.kind import Item, OpenIssue, Refined, Refused, RefusedItem, Work
from workflows.kinds.passages import spans_of
from workflows.vocabulary import StepName

MINUTES = load_kinds()["minutes"]


def edit(find: str, new: str, *resolves: str) -> dict[str, Any]:
    return {"find": find, "replace": new, "resolves": list(resolves)}


def refine(body: str, *edits: dict[str, Any], **ground: Any) -> Refined:
    return apply_edits(Ground(body=body, **ground), edits)


def one_of(body: str, find: str, new: str, **found: Any) -> Refined:
    return refine(body, edit(find, new, "I1"), issues=(issue(1, find, **found),))


LINES = "# A\n\nThe price is 6. Bo agreed.\n\n- Item one costs 5.\n- Item two costs 6.\n"


@pytest.mark.parametrize(
    "wrong", ["The price is 6. ", "- Item two costs 6.\n", "Bo agreed.", "# A\n", LINES]
)
def test_a_complaint_is_not_answered_by_deleting_what_it_is_about(wrong: str) -> None:
    refined = one_of(LINES, wrong, "", suggestion=None)
    assert refined.body == LINES
    assert refined.refused == {"lost_content": 1}


@pytest.mark.parametrize("wrong", ["The price is 6. ", "- Item two costs 6.\n", "Bo agreed."])
def test_what_an_issue_says_should_go_goes(wrong: str) -> None:
    assert one_of(LINES, wrong, "", suggestion="").body == LINES.replace(wrong, "")


@pytest.mark.parametrize("more", [{"category": "invented"}, {"raised_by": "person:ana"}])
def test_what_nobody_said_or_a_person_complained_of_may_go_too(more: dict[str, Any]) -> None:
    said = issue(1, "Bo agreed.")
    odd = replace(said, finding=replace(said.finding, **more))
    gone = refine(LINES, edit("Bo agreed.", "", "I1"), issues=(odd,))
    assert gone.body == LINES.replace("Bo agreed.", "")


def test_what_a_person_wants_may_be_answered_beside_the_passage() -> None:
    wish = edit("Bo agreed", "All agreed", "I1")
    said = issue(1, "# A")
    assert refine(LINES, wish, issues=(said,)).refused == {"unasked": 1}
    person = replace(said, finding=replace(said.finding, raised_by="person:ana"))
    changed = refine(LINES, wish, issues=(person,))
    assert changed.body == LINES.replace("Bo agreed", "All agreed")


def test_words_may_go_from_a_sentence_that_stays() -> None:
    assert one_of("He said the the word.", "the the", "the").body == "He said the word."
    body = "We ship on Friday, as Bo asked twice."
    assert one_of(body, ", as Bo asked twice", "").body == "We ship on Friday."


def test_a_sentence_may_be_reworded_merged_or_split() -> None:
    body = "Ana pays the rent. Bo pays the food."
    merged = refine(
        body,
        edit(body, "Ana pays the rent and Bo pays the food.", "I1"),
        issues=(issue(1, body),),
    )
    assert merged.body == "Ana pays the rent and Bo pays the food."
    split = one_of("Ana pays and Bo eats.", "Ana pays and Bo eats.", "Ana pays. Bo eats.")
    assert split.body == "Ana pays. Bo eats."
    other = one_of("Nothing was said at all.", "Nothing was said at all.", "All agreed on this.")
    assert other.body == "All agreed on this."


def test_a_repeated_line_is_changed_only_where_its_neighbours_make_it_unique() -> None:
    body = "- Same.\n- Price 5.\n- Same.\n- Price 6.\n- Same.\n"
    refined = refine(
        body,
        edit("- Same.", "- Other.", "I1"),
        edit("- Price 5.\n- Same.", "- Price 5.\n- Other.", "I1"),
        issues=(issue(1, "- Price 5.\n- Same."),),
    )
    assert refined.body == "- Same.\n- Price 5.\n- Other.\n- Price 6.\n- Same.\n"
    assert refined.refused == {"ambiguous": 1}


TABLE = (
    "| Who | What | When |\n|---|---|---|\n| Ana | rent | May |\n| Bo | food | June |\n"
    "| Cy | tax | July |\n"
)


def test_a_cell_of_a_table_is_changed_and_a_row_is_not_lost() -> None:
    assert one_of(TABLE, "| food |", "| fuel |").body == TABLE.replace("food", "fuel")
    row = "| Bo | food | June |\n"
    assert refine(TABLE, edit(row, "", "I1"), issues=(issue(1, "food"),)).refused == {
        "lost_content": 1
    }
    gone = refine(TABLE, edit(row, "", "I1"), issues=(issue(1, row, suggestion=""),))
    assert gone.body == TABLE.replace(row, "")


def test_an_item_of_a_nested_list_is_changed_and_those_below_it_are_not_lost() -> None:
    body = "- Plan\n  - first of May\n    - Ana drives\n  - second of May\n1. End\n   1) last\n"
    assert one_of(body, "first of May", "third of May").body == body.replace("first", "third")
    lost = refine(
        body,
        edit("  - first of May\n    - Ana drives\n", "  - third of May\n", "I1"),
        issues=(issue(1, "first of May"),),
    )
    assert lost.refused == {"lost_content": 1}


def test_scripts_may_be_mixed_and_other_forms_of_a_character_are_found() -> None:
    body = "会议于５月３日（周二）召开，Ana 负责 API。👩‍💻 Qué?\n"
    assert one_of(body, "5月3日(周二)", "５月４日（周三）").body.startswith(
        "会议于５月４日（周三）召开"
    )
    assert one_of(body, "👩‍💻 Qué", "👩‍💻 Qui").body.endswith("👩‍💻 Qui?\n")


def test_windows_line_ends_survive_in_every_edit_of_a_table_or_list() -> None:
    body = TABLE.replace("\n", "\r\n") + "\r\n- a 1\r\n- b 2\r\n"
    refined = refine(
        body,
        edit("| Bo | food | June |\n| Cy", "| Bo | fuel | June |\n| Cy", "I1"),
        edit("- a 1\n- b 2", "- a 3\n- b 2\n- c 4", "I2"),
        issues=(issue(1, "food"), issue(2, "a 1")),
    )
    assert refined.body == body.replace("food", "fuel").replace(
        "- a 1\r\n- b 2", "- a 3\r\n- b 2\r\n- c 4"
    )


def _long(lines: int) -> str:
    dice = random.Random(5)
    words = ["price", "Ana", "Montag", "会议", "shall", "not", "agreed", "42", "the"]
    made = [f"- {n}: {' '.join(dice.choices(words, k=9))}." for n in range(lines)]
    return "\n".join(made) + "\n"


def test_many_edits_of_a_long_body_change_their_lines_and_no_other_byte() -> None:
    body = _long(2200)
    assert len(body) > 100_000
    numbers = range(0, 2200, 50)
    issues = tuple(issue(n, f"- {n}: ") for n in numbers)
    edits = [edit(f"- {n}: ", f"- {n}a: ", f"I{n}") for n in numbers]
    began = time.perf_counter()
    refined = refine(body, *edits, issues=issues)
    assert time.perf_counter() - began < 15
    wanted = body
    for n in numbers:
        wanted = wanted.replace(f"- {n}: ", f"- {n}a: ", 1)
    assert refined.body == wanted
    assert refined.resolved == tuple(numbers)


def test_a_hundred_kilobytes_without_a_line_break_are_edited_too() -> None:
    body = "".join(f"Word{n} " for n in range(14_000))
    refined = one_of(body, "Word7000 ", "Word seven thousand ")
    assert refined.body == body.replace("Word7000 ", "Word seven thousand ")


def test_a_quote_that_repeats_itself_for_pages_is_found_without_delay() -> None:
    """Its places overlap by the ten thousand; what grows with their square stops a worker."""
    body = "x" * 100_000 + " costs 26 Euros\n"
    issues = (issue(1, "26 Euros"), issue(2, "x" * 100_000), issue(3, "x" * 40_000))
    began = time.process_time()
    refined = refine(body, edit("26 Euros", "25 Euros", "I1"), issues=issues)
    shorter = refine(body, edit(body[:90_000] + "!", "", "I2"), issues=issues)
    assert time.process_time() - began < 4
    assert refined.body == body.replace("26", "25")
    assert shorter.refused == {"not_found": 1}
    assert spans_of("aabaabaa", "aabaa") == [(0, 5), (3, 8)]


def refining(body: str, *issues: OpenIssue, **rest: Any) -> Work:
    return replace(work(StepName.REFINE, "Ana: yes.", body, issues=issues), **rest)


def accepted(step: Work, payload: dict[str, Any], *kept: Item) -> Item | Refused:
    return MINUTES.accept(step, MINUTES.parts(step)[0], payload, kept)


def test_an_edit_that_overlaps_one_that_is_kept_is_refused_while_the_model_may_still_answer() -> (
    None
):
    step = refining("A big red house.", issue(1, "big red house"))
    first = accepted(step, edit("big red", "small red", "I1"))
    assert isinstance(first, Item)
    assert accepted(step, edit("red house", "red hut", "I1"), first) == Refused(code="overlap")


def told(step: Work, *refused: tuple[dict[str, Any], str]) -> Work:
    return replace(step, refused=tuple(RefusedItem(payload=p, code=code) for p, code in refused))


def test_misses_are_told_once_unless_another_edit_resolved_their_issue() -> None:
    step = refining("It is 6 or 7.", issue(1, "is 6"), issue(2, "or 7"))
    [part] = MINUTES.parts(step)
    made = accepted(step, edit("is 6", "is 5", "I1"))
    assert isinstance(made, Item)
    missed = told(step, (edit("was 7", "or 8", "I2"), "not_found"))
    assert MINUTES.ask_again(missed, part, [made])
    prompt = MINUTES.prompt(missed, part, [made])
    assert '"code":"not_found","item":{"find":"was 7"' in prompt.user
    assert "edits in ALREADY are made" in prompt.user.splitlines()[-1]
    same = told(step, (edit("was 6", "is 5", "I1"), "not_found"))
    assert not MINUTES.ask_again(same, part, [made])
    idle = told(step, (edit("is 6", "is 6", "I1"), "no_change"))
    assert not MINUTES.ask_again(idle, part, [])


def test_where_no_edit_could_be_made_the_whole_body_is_asked_for() -> None:
    step = refining("It is 6.\nAll came.\n", issue(1, "is 6"))
    missed = told(step, (edit("it was 6", "it was 5", "I1"), "not_found"))
    [part] = MINUTES.parts(missed)
    assert "find is an empty text" in MINUTES.prompt(missed, part, []).user.splitlines()[-1]
    whole = edit("", "It is 5.\nNobody came.\n", "I1")
    item = accepted(missed, whole)
    assert isinstance(item, Item)
    refined = MINUTES.refine(step, [item])
    assert refined.body == "It is 5.\nAll came.\n"
    assert refined.resolved == (1,)
    assert refined.refused == {"unasked": 1}
    assert accepted(step, whole) == Refused(code="invalid"), "only where it was asked for"
    nothing = edit("", "(rest unchanged)", "I1")
    assert accepted(missed, nothing) == Refused(code="lost_content")


def test_a_rewrite_adds_what_is_missing_and_drops_nothing() -> None:
    body = "## Actions\n\n- Ana calls.\n\n## Open\n\n- Who pays?\n"
    ground = Ground(body=body, issues=(issue(1, "## Actions"),))
    more = body.replace("- Ana calls.", "- Bo writes.\n- Ana calls.")
    edits, _ = read_rewrite(ground, edit("", more, "I1"))
    assert refine(body, edit("", more, "I1"), issues=ground.issues).body == more
    assert edits[0].resolves == (1,)
    less = body.replace("- Who pays?\n", "")
    assert refine(body, edit("", less, "I1"), issues=ground.issues).body == body


def test_a_review_of_which_nothing_could_be_kept_is_told_so_once() -> None:
    step = work(StepName.REVIEW, "Ana: yes.", "It is 6.")
    [part] = MINUTES.parts(step)
    item = {"quote": "It was 6", "category": "x", "severity": "major", "problem": "p"}
    missed = told(step, (item, "quote_not_found"))
    assert MINUTES.ask_again(missed, part, [])
    assert "None of the items in REFUSED" in MINUTES.prompt(missed, part, []).user.splitlines()[-1]
    kept = Item(key="k", payload=item)
    assert not MINUTES.ask_again(missed, part, [kept])
    assert not MINUTES.ask_again(told(step, (item, "duplicate")), part, [])
