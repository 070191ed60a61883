"""Long sources: windows that together cover every line, and excerpts around what matters."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import pytest

from activities.model import tokens
from deploy.offline_model.prompt import read_prompt
from tests.unit.kind_material import DATA, Meeting, issue, material, meetings, work
from workflows.kinds import load_kinds
from workflows.kinds.kind import Item, Prompt, SourceText, Work
from workflows.kinds.lines import number_lines
from workflows.kinds.scopes import changed
from workflows.kinds.sizes import rough_count
from workflows.kinds.windows import cut, excerpt_of
from workflows.vocabulary import StepName

MINUTES = load_kinds()["minutes"]
BODY = "# Minutes\n\n- The budget is 250000 Euros.\n"
LONG = {meeting.name: meeting for meeting in meetings() if meeting.name in ("Bmr006", "208")}


def review(text: str, **rest: object) -> Work:
    step = work(StepName.REVIEW, text, BODY)
    return replace(step, count=tokens.count, **rest)  # type: ignore[arg-type]


def prompts(step: Work, kept: Sequence[Item] = ()) -> dict[str, Prompt]:
    return {part.part: MINUTES.prompt(step, part, kept) for part in MINUTES.parts(step)}


def times(text: str, count: int) -> str:
    return "\n".join([text] * count)


def with_decisions(text: str) -> tuple[str, list[str]]:
    """The text with a decision at a quarter, in the middle and as its last line."""
    lines = text.splitlines()
    said = [f"Zoe: so it is decided, number {n} gets the green light." for n in (1, 2, 3)]
    lines.insert(len(lines) // 4, said[0])
    lines.insert(len(lines) // 2, said[1])
    return "\n".join([*lines, said[2]]), said


@pytest.mark.parametrize("name", LONG)
@pytest.mark.parametrize("count", [1, 3])
def test_windows_of_a_long_meeting_show_every_line_under_its_own_number(
    name: str, count: int
) -> None:
    text, said = with_decisions(times(LONG[name].material.sources[0].text, count))
    step = review(text)
    shown = prompts(step)
    assert len(shown) > 2 * count
    together: dict[int, str] = {}
    for part, prompt in shown.items():
        if part.startswith("main:"):
            together |= dict(_numbered(prompt))
            assert tokens.count(prompt.user) < 20_000 + 1_000
    lines = number_lines(step.material.sources)
    assert together == {line.number: line.text for line in lines}
    received = "".join(prompt.user for prompt in shown.values())
    assert all(words in received for words in said)


def _numbered(prompt: Prompt) -> list[tuple[int, str]]:
    block = prompt.user[: prompt.user.index("<<<END SOURCE")].split("\n")[1:-1]
    return [(int(name[1:]), text) for name, _, text in (line.partition(": ") for line in block)]


def test_neighbouring_windows_share_some_lines() -> None:
    step = review(LONG["Bmr006"].material.sources[0].text)
    windows = [part.spec["window"] for part in MINUTES.parts(step) if "window" in part.spec]
    for one, other in pairwise(windows):
        assert 1 <= one["last"] - other["first"] + 1 <= 6


def test_a_short_source_is_one_part_with_the_key_it_always_had() -> None:
    [part] = MINUTES.parts(review("Ana: yes."))
    assert (part.part, part.spec) == ("main", {"part": "main"})


def test_the_same_source_is_cut_in_the_same_way_and_another_size_has_other_keys() -> None:
    step = review(LONG["208"].material.sources[0].text)
    first = MINUTES.parts(step)
    assert first == MINUTES.parts(step)
    smaller = MINUTES.parts(replace(step, prompts={"window_tokens": 4000}))
    assert len(smaller) > len(first)
    assert not {part.key for part in first} & {part.key for part in smaller[:-1]}


def test_a_window_says_which_lines_it_holds_and_that_silence_is_no_finding() -> None:
    shown = prompts(review(LONG["Bmr006"].material.sources[0].text))
    second = shown["main:2"].user.splitlines()[-1]
    assert "T476 to T883 of 1368" in second
    assert "never report a statement because these lines are silent" in second
    assert "that share most words with DOCUMENT" in shown["invented"].user


def test_what_nobody_said_is_looked_for_beside_the_lines_that_come_nearest() -> None:
    text, _ = with_decisions(LONG["Bmr006"].material.sources[0].text)
    body = "# Minutes\n\n- It was decided that number 2 gets the green light.\n"
    shown = prompts(replace(review(text), body=body))
    prompt = shown["invented"]
    assert "number 2 gets the green light." in prompt.user
    assert tokens.count(prompt.user) < 20_000 + 1_000
    messages = [{"role": "system", "content": prompt.system}, {"content": prompt.user}]
    assert read_prompt(messages).part == "invented"


def test_every_reviewer_reads_every_window() -> None:
    names = ["facts", "relations", "gaps", "invented"]
    step = review(LONG["208"].material.sources[0].text, prompts={"reviewers": names})
    parts = [part.part for part in MINUTES.parts(step)]
    assert parts == [
        *(f"{name}:{at}" for name in names[:3] for at in (1, 2)),
        "invented",
    ]


def test_a_line_longer_than_a_window_is_cut_between_sentences_and_keeps_its_number() -> None:
    sentences = [f"Sentence {n} says what was said." for n in range(4000)]
    text = "Ana: hello\n" + " ".join(sentences) + "\nBo: bye"
    lines = number_lines(material(text).sources)
    windows = cut(lines, 5000, tokens.count)
    assert len(windows) > 3
    pieces = []
    for window in windows:
        shown = excerpt_of({"window": window.spec()}, lines)
        assert shown is not None
        pieces.append(lines[1].text[slice(*shown[2])])
        assert tokens.count(pieces[-1]) <= 5000
    assert all(any(sentence in piece for piece in pieces) for sentence in sentences)


def test_a_text_without_any_break_is_cut_too() -> None:
    lines = number_lines(material("会" * 100_000).sources)
    windows = cut(lines, 5000, tokens.count)
    reached = 0
    for window in windows:
        assert window.start <= reached < window.end
        reached = window.end
    assert reached == 100_000


def test_two_sources_are_numbered_through_and_a_window_shows_whose_lines_it_has() -> None:
    one = LONG["Bmr006"].material.sources[0]
    other = SourceText(id="s2", name="notes", media_type="text/plain", text="Bo: 1\nBo: 2")
    step = review("x")
    step = replace(step, material=replace(step.material, sources=(one, other)))
    shown = prompts(step)
    assert "name=notes" not in shown["main:1"].user
    assert "name=notes" in shown["main:3"].user
    assert "T1370: Bo: 2" in shown["main:3"].user


def test_a_refine_of_a_long_source_is_shown_the_lines_around_its_issues() -> None:
    text, _ = with_decisions(LONG["Bmr006"].material.sources[0].text)
    at = next(
        line.number for line in number_lines(material(text).sources) if "number 2" in line.text
    )
    found = issue(1, "250000 Euros")
    named = replace(found, finding=replace(found.finding, evidence=(f"T{at}",)))
    step = replace(work(StepName.REFINE, text, BODY, issues=(named,)), count=tokens.count)
    [part] = MINUTES.parts(step)
    prompt = MINUTES.prompt(step, part, [])
    assert f"T{at}: Zoe: so it is decided" in prompt.user
    assert f"T{at - 3}: " in prompt.user
    assert tokens.count(prompt.user) < 12_000
    assert prompt.recipe["ranges"] == part.spec["ranges"]
    assert "SOURCE holds only lines of 1371" in prompt.user


def test_a_draft_is_made_from_all_of_a_long_source() -> None:
    text = LONG["Bmr006"].material.sources[0].text
    step = replace(work(StepName.DRAFT, text), count=tokens.count)
    trip = load_kinds()["itinerary"]
    [part] = trip.parts(step)
    assert f"T1368: {text.splitlines()[-1]}" in trip.prompt(step, part, []).user
    assert "T1: " in trip.prompt(step, part, []).user


@pytest.mark.parametrize("size", [0, 10, True, "4000", 2.5])
def test_a_size_of_windows_that_cannot_be_is_named(size: object) -> None:
    [(pointer, _)] = MINUTES.check_prompts({"window_tokens": size})
    assert pointer == "/window_tokens"
    assert MINUTES.check_prompts({"window_tokens": 8000}) == []


@pytest.mark.parametrize("meeting", list(meetings()), ids=lambda meeting: meeting.name)
def test_tokens_are_estimated_within_a_fifth_in_both_languages(meeting: Meeting) -> None:
    text = meeting.material.sources[0].text
    counted = tokens.count(text)
    assert abs(rough_count(text) - counted) <= counted * 0.2


def test_a_later_review_that_cannot_pass_is_about_what_changed_and_what_is_open() -> None:
    body = "# Minutes\n\n- The price is 5.\n- We meet on Monday. Bo pays.\n- Nobody came.\n"
    now = body.replace("5", "6").replace("Bo pays.", "Ana pays.")
    step = replace(
        review("Ana: yes.", reviewed=body, can_pass=False, issues=(issue(3, "Nobody came"),)),
        body=now,
    )
    [part] = MINUTES.parts(step)
    assert part.part == "changes"
    user = MINUTES.prompt(step, part, []).user
    block = user[user.index("<<<CHANGED") : user.index("<<<END CHANGED")]
    assert json.loads(block.splitlines()[1]) == ["- The price is 6.", "Ana pays."]
    assert 'I3 | major | number | quote: "Nobody came"' in user
    assert user.splitlines()[-2] == "Part: changes"


def test_a_later_review_that_may_pass_is_about_everything() -> None:
    step = review("Ana: yes.", reviewed="Another text.", can_pass=True)
    [part] = MINUTES.parts(step)
    assert part.part == "main"
    assert "CHANGED" not in MINUTES.prompt(step, part, []).user.split("\n", 1)[1]


def test_what_changed_are_whole_sentences_and_neighbours_stand_together() -> None:
    assert changed("One. Two. Three.", "One. 2. 3. Four.") == ["2. 3. Four."]
    assert changed("一句。二句。", "一句。三句。") == ["三句。"]
    assert changed("Same.", "Same.") == []


def test_from_the_second_round_on_four_fifths_of_a_request_are_a_shared_prefix() -> None:
    raw = json.loads(
        (DATA.parent.parent / "workflows/kinds/minutes/sample/document.json").read_text("utf-8")
    )
    text, body = raw["sources"][0]["text"], raw["body"]
    opened = tuple(issue(n, f"quote {n} of an issue", suggestion="what it is") for n in range(1, 6))
    first = replace(review(text), body=body)
    repaired = body.replace("35 Euros", "25 Euros")
    later = replace(first, body=repaired, issues=opened, reviewed=body, can_pass=False)
    [before], [after] = prompts(first).values(), prompts(later).values()
    same = _common(before.system + before.user, after.system + after.user)
    assert tokens.count(same) >= 0.8 * tokens.count(after.system + after.user)


def _common(one: str, other: str) -> str:
    at = next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), 0)
    return one[:at]


@pytest.mark.parametrize("text", [LONG["208"].material.sources[0].text, "word " * 9000])
def test_a_window_that_was_too_long_is_cut_into_pieces_that_show_all_of_it(text: str) -> None:
    step = review(text, prompts={"window_tokens": 4000})
    lines = number_lines(step.material.sources)
    small = replace(step, prompts={"window_tokens": 900})
    for part in MINUTES.parts(step):
        pieces = MINUTES.recut(small, part)
        assert pieces[0].part == part.part
        if "window" not in part.spec:
            continue
        assert len(pieces) > 3
        before, after = excerpt_of(part.spec, lines), [excerpt_of(p.spec, lines) for p in pieces]
        assert before is not None
        for number, (start, end) in before.items():
            spans = sorted(piece[number] for piece in after if piece and number in piece)
            assert spans[0][0] == start
            assert max(stop for _, stop in spans) == end
            assert all(other[0] <= one[1] for one, other in pairwise(spans))
        assert all(MINUTES.recut(small, piece) == (piece,) for piece in pieces)
