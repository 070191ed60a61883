"""The review's sheet: what stands beside which passage, what is folded, what a decision takes."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from api import wire
from api.http import requests
from api.pages.review_evidence import excerpts
from api.pages.review_rounds import rounds, setback
from api.pages.review_text import Marks, Passage, Sheet, sheet
from api.pages.round_tally import Tally, tallies
from api.pages.rounds import rounds as strip
from api.queries.pages import IssueMove
from tests.unit.pages_rows import a_run

OLD = "# Minutes\n\n- The budget is 15 euro.\n- We ship on Friday.\n\nNothing else was said.\n"
NEW = "# Minutes\n\n- The budget is 12 euro.\n- We ship on Friday.\n\nNothing else was said.\n"
NOW = datetime(2026, 11, 30, tzinfo=UTC)


def an_issue(quote: str, *, status: str = "open", **values: Any) -> wire.Issue:
    fields = {
        "id": "01a22906-aafb-7165-a8dc-e62c02c24117",
        "number": 1,
        "category": "number",
        "severity": "major",
        "problem": "wrong",
        "suggestion": None,
        "evidence": [],
        "raised_by": "verifier:numbers",
        "raised_round": 1,
        "seen_round": 1,
        "fixed_round": None,
        "revision": 0,
        "waived_by": None,
        "waived_reason": None,
        "created_at": NOW,
        "updated_at": NOW,
        **values,
    }
    return wire.Issue(quote=quote, status=status, **fields)


def passages(made: Sheet) -> list[Passage]:
    return [passage for stretch in made.stretches for passage in stretch.passages]


def spelled(passage: Passage, *without: str) -> str:
    bits = [bit for line in passage.lines for bit in line.bits if bit.op not in without]
    return "".join(bit.text for bit in bits)


def test_a_change_is_marked_by_words_and_knows_its_number() -> None:
    made = sheet(OLD, NEW, Marks(decided={1: False}))
    (changed,) = [passage for passage in passages(made) if passage.hunk is not None]
    assert (made.places, made.added, made.removed) == (1, 1, 1)
    assert spelled(changed, "insert") == "- The budget is 15 euro."
    assert spelled(changed, "delete") == "- The budget is 12 euro."
    assert [bit.text for line in changed.lines for bit in line.bits if bit.op == "insert"] == ["12"]
    assert changed.hunk == 1
    assert changed.accepted is False


def test_chinese_is_compared_word_by_word_and_counted_by_character() -> None:
    made = sheet(
        "本次预算为一万五千欧元，由财务审批。\n", "本次预算为一万二千欧元，由财务审批。\n", Marks()
    )
    (changed,) = passages(made)
    equal = [bit.text for line in changed.lines for bit in line.bits if bit.op == "equal"]
    assert "欧元，由财务审批。" in equal[-1]
    assert 0 < made.added == made.removed < 6


def test_issues_stand_at_the_passage_they_quote_and_fixed_ones_at_what_was_taken_out() -> None:
    open_one, gone = an_issue("We ship"), an_issue("15 euro", status="fixed")
    nowhere = an_issue("never said")
    made = sheet(OLD, NEW, Marks(issues=[open_one, gone, nowhere]))
    by_text = {spelled(passage, "delete"): passage for passage in passages(made)}
    assert by_text["- We ship on Friday."].issues == [open_one]
    assert by_text["- The budget is 12 euro."].fixed == [gone]
    assert made.elsewhere == (nowhere,)
    marked = [bit.text for line in by_text["- We ship on Friday."].lines
              for bit in line.bits if bit.marked]  # fmt: skip
    assert marked == ["We ship"]


def test_an_issue_that_quotes_over_a_change_is_marked_on_both_sides_of_it() -> None:
    made = sheet(OLD, NEW, Marks(issues=[an_issue("budget is 12 euro")]))
    (changed,) = [passage for passage in passages(made) if passage.issues]
    marked = "".join(bit.text for line in changed.lines for bit in line.bits if bit.marked)
    assert marked == "budget is 12 euro"


def test_remarks_and_locks_stand_at_their_passages_and_stray_ones_are_not_lost() -> None:
    remarks = [
        requests.ReworkComment(quote="We ship on Friday.", text="which?"),
        requests.ReworkComment(quote="gone", text="lost?"),
        requests.ReworkComment(text="shorter, please"),
    ]
    made = sheet(OLD, NEW, Marks(remarks=remarks, locks=["# Minutes"], locked=["Nothing else"]))
    by_text = {spelled(passage, "delete"): passage for passage in passages(made)}
    assert by_text["- We ship on Friday."].remarks == [0]
    assert by_text["# Minutes"].locks == [0]
    assert by_text["Nothing else was said."].locked
    assert made.stray == (1, 2)


def test_long_unchanged_stretches_are_folded_but_not_what_is_noted() -> None:
    lines = [f"Paragraph {number}.\n\n" for number in range(30)]
    old = "".join(lines)
    new = old.replace("Paragraph 3.", "Paragraph three.")
    made = sheet(old, new, Marks(issues=[an_issue("Paragraph 20.")]))
    folded = [p.number for s in made.stretches if s.folded for p in s.passages]
    assert {3, 20}.isdisjoint(folded)
    assert {10, 28} <= set(folded)
    assert not any(s.folded for s in sheet(old, new, Marks(), unfolded=True).stretches)
    assert not any(s.folded for s in sheet(old, old, Marks()).stretches)  # read, not compared


def test_what_is_shown_spells_both_texts() -> None:
    made = sheet(OLD, NEW, Marks(issues=[an_issue("15 euro"), an_issue("12 euro")]))
    for text, without in ((OLD, "insert"), (NEW, "delete")):
        shown = [spelled(passage, without) for passage in passages(made)]
        assert [line for line in shown if line] == [line for line in text.split("\n") if line]


def a_step(name: str, number: int, **values: Any) -> wire.Step:
    fields = {
        "id": f"{name}{number}",
        "seq": number,
        "attempt": 1,
        "status": "SUCCEEDED",
        "reason": None,
        "parts": wire.Parts(done=1, total=1),
        "input_revision": number - 1,
        "output_revision": None,
        "score": None,
        "result": None,
        "worker": "w",
        "queued_at": NOW,
        "started_at": NOW,
        "ended_at": NOW,
        **values,
    }
    return wire.Step(name=name, round=number, **fields)


def a_move(type_: str, number: int, round_: int | None, raised_by: str = "model:all") -> IssueMove:
    return IssueMove(type=type_, number=number, round=round_, raised_by=raised_by)


def test_a_round_that_changed_nothing_and_a_worse_score_are_told() -> None:
    steps = [
        a_step("review", 1, score=40),
        a_step("refine", 1, output_revision=1),
        a_step("review", 2, score=88),
        a_step("refine", 2, output_revision=2),
        a_step("review", 3, score=60),
        a_step("refine", 3, result={"repeats_revision": 1}),
    ]
    found = rounds(steps, [a_move("issue_raised", 1, 2), a_move("issue_fixed", 1, 2)])
    assert [(one.read, one.made, one.refined) for one in found] == [
        (0, 1, True), (1, 2, True), (2, None, True)
    ]  # fmt: skip
    assert (found[1].found, found[1].fixed, found[2].again) == (1, 1, 1)
    worse = setback(found)
    assert worse is not None
    assert (worse.round, worse.score, worse.best_score, worse.best) == (3, 60, 88, 1)
    assert setback(found[:2]) is None


def test_what_a_round_did_stays_told_when_a_rework_brings_issues_back() -> None:
    """Also the person's comment counts in the round it asks for, not in the one it was written
    after; a waiver in the round that was the newest."""
    first = [a_move("issue_raised", 1, 1), a_move("issue_raised", 2, 1)]
    first += [a_move("issue_fixed", 1, 1), a_move("issue_fixed", 2, 1)]
    before = tallies(first, [1])
    assert before == {1: Tally(raised=2, fixed=2, left=0)}
    rework = [a_move("issue_raised", 3, 1, "person:local"), a_move("issue_reopened", 1, 2)]
    after = tallies([*first, *rework, a_move("issue_waived", 3, None)], [1, 2])
    assert after == {1: before[1], 2: Tally(raised=1, waived=1, returned=1, left=1)}


def test_of_two_rounds_that_read_the_best_revision_one_is_the_best() -> None:
    steps = [a_step("review", 1, score=55), a_step("review", 2, score=98, input_revision=1),
             a_step("review", 3, score=88, input_revision=1)]  # fmt: skip
    cards = strip(a_run().model_copy(update={"best_revision": 1}), steps, [])
    assert [(card.is_best, card.is_again) for card in cards] == [
        (False, False), (True, False), (False, True)
    ]  # fmt: skip


def test_evidence_is_found_through_all_sources_with_its_second_and_neighbours() -> None:
    def a_source(name: str, text: str) -> wire.Source:
        return wire.Source(
            id=name, document_id="d", name=name, media_type="text/plain", version=1,
            replaces=None, replaced_by=None, position=0, characters=len(text), sha256="",
            has_audio=name == "b", has_original=False, actor="local", created_at=NOW, text=text,
        )  # fmt: skip

    sources = [a_source("a", "one\ntwo"), a_source("b", "[0:05] three\n[1:02] four\n[1:09] five")]
    found = excerpts(sources, [an_issue("", evidence=["T4", "T99", "x"])])
    assert list(found) == ["T4"]
    assert (found["T4"].source, found["T4"].meant.seconds) == ("b", 62)
    assert [heard.name for heard in found["T4"].lines] == ["T3", "T4", "T5"]
    assert found["T4"].sound.endswith("/sources/b/audio")


def test_a_change_is_told_from_any_other_by_its_contents() -> None:
    def contents(new: str) -> list[str]:
        stretches = sheet(OLD, new, Marks()).stretches
        found = (one.contents for stretch in stretches for one in stretch.passages)
        return [one for one in found if one]

    [first] = contents(NEW)
    longer = "Another passage stands above it.\n\n" + NEW
    assert first in contents(longer)  # wherever it stands
    assert first not in contents(NEW.replace("12", "13"))


def test_only_the_lines_of_the_asked_view_are_made() -> None:
    unified, split = (passages(sheet(OLD, NEW, Marks(), split=one)) for one in (False, True))
    assert all(one.lines and not (one.old or one.new) for one in unified)
    assert all(one.old and one.new and not one.lines for one in split)
