"""Issues over rounds: which are the same, what is open, what a run's loop makes of it."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from workflows.issues import Known, after_refine, after_review, back_to, family, merged
from workflows.kinds.kind import Finding
from workflows.scoring import ReviewHistory, fingerprint, loop_end, standing
from workflows.vocabulary import IssueStatus, Reason, Severity

BODY = "The price is 26 Euros and 30 people came. Bo pays for all of it on Friday."


def finding(quote: str, category: str = "number", **more: Any) -> Finding:
    given = {"severity": Severity.MAJOR, "problem": "p", "suggestion": None, **more}
    return Finding(category=category, quote=quote, **given)


def known(number: int, found: Finding, status: IssueStatus = IssueStatus.OPEN) -> Known:
    return Known(
        id=f"id{number}",
        number=number,
        fingerprint=fingerprint(found),
        status=status,
        finding=found,
    )


def reviewed(found: Sequence[Finding], *before: Known, body: str = BODY, **more: Any) -> Any:
    return after_review(merged(found, body), before, body, **more)


def test_two_quotes_of_one_place_and_family_are_one_issue_the_more_severe_one() -> None:
    wide = finding("The price is 26 Euros", severity=Severity.MINOR, evidence=("T4",))
    narrow = finding("26 Euros", "wrong_fact", severity=Severity.BLOCKER)
    for order in ((wide, narrow), (narrow, wide)):
        [one] = merged(order, BODY).values()
        assert (one.severity, one.quote) == (Severity.BLOCKER, "26 Euros")
        assert one.evidence == ("T4",)


def test_what_is_found_again_as_something_worse_is_that_from_now_on() -> None:
    small = known(1, finding("26 Euros", severity=Severity.MINOR))
    after = reviewed([finding("price is 26 Euros", severity=Severity.BLOCKER)], small)
    assert (dict(after.fresh), list(after.seen)) == ({}, [small])
    assert after.graver["id1"].severity == Severity.BLOCKER
    assert after.standing == {small.fingerprint: Severity.BLOCKER}


def test_what_is_found_again_as_something_smaller_stays_as_grave_and_a_waived_one_waived() -> None:
    grave = known(1, finding("26 Euros"))
    after = reviewed([finding("26 Euros", severity=Severity.MINOR)], grave)
    assert (dict(after.graver), after.standing) == ({}, {grave.fingerprint: Severity.MAJOR})
    waived = known(1, finding("26 Euros", severity=Severity.MINOR), IssueStatus.WAIVED)
    after = reviewed([finding("26 Euros", severity=Severity.BLOCKER)], waived)
    assert (after.graver, after.standing) == ({}, {})


def test_a_suggestion_stays_with_the_quote_it_was_made_for() -> None:
    wide = finding("price is 26 Euros", suggestion="price is 25 Euros", severity=Severity.MINOR)
    [one] = merged([finding("26 Euros"), wide], BODY).values()
    assert (one.quote, one.suggestion) == ("price is 26 Euros", "price is 25 Euros")
    assert one.severity == Severity.MAJOR


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (finding("26 Euros"), finding("30 people")),
        (finding("26 Euros"), finding("The price is 26 Euros", "invented")),
        (
            finding("26 Euros"),
            finding(BODY, suggestion=BODY.replace("30 people", "40 people")),
        ),
        (finding("26 Euros"), finding(BODY)),
    ],
)
def test_what_is_about_something_else_stays_an_issue_of_its_own(
    one: Finding, other: Finding
) -> None:
    assert len(merged([one, other], BODY)) == 2


@pytest.mark.parametrize(
    ("category", "name"),
    [
        ("wrong_number", "value"),
        ("Date", "value"),
        ("owner", "entity"),
        ("missing_decision", "missing"),
        ("Unsupported claim", "invented"),
        ("negation", "relation"),
        ("doubled_word", "wording"),
        ("遗漏", "missing"),
        ("tone", "tone"),
    ],
)
def test_categories_as_models_name_them_belong_to_families(category: str, name: str) -> None:
    assert family(category) == name


def test_an_issue_is_known_again_when_it_is_quoted_in_another_way() -> None:
    old = known(4, finding("26 Euros"))
    after = reviewed([finding("The price is 26  euros".replace("eu", "Eu"), "amount")], old)
    assert after.fresh == {}
    assert after.seen == (old,)
    assert after.standing == {old.fingerprint: Severity.MAJOR}


def test_a_waived_issue_stays_waived_however_it_comes_again() -> None:
    old = known(4, finding("26 Euros"), IssueStatus.WAIVED)
    after = reviewed([finding("price is 26 Euros")], old)
    assert (after.fresh, after.standing) == ({}, {})


def test_a_fixed_issue_that_comes_back_is_reopened() -> None:
    old = known(4, finding("26 Euros"), IssueStatus.FIXED)
    after = reviewed([finding("26 Euros")], old)
    assert after.reopened == (old,)
    assert list(after.standing) == [old.fingerprint]


def test_an_issue_nobody_mentions_stays_open_unless_its_passage_went_or_an_edit_resolved_it() -> (
    None
):
    stands, went = known(1, finding("26 Euros")), known(2, finding("99 Euros"))
    resolved = known(3, finding("The price", "missing"))
    after = reviewed([], stands, went, resolved, resolved={3})
    assert [one.number for one in after.fixed] == [2, 3]
    assert list(after.standing) == [stands.fingerprint]
    again = reviewed([finding("The price", "missing")], resolved, resolved={3})
    assert list(again.standing) == [resolved.fingerprint]


def test_a_new_text_stands_as_what_is_left_and_its_verifiers_say() -> None:
    body = BODY.replace("26 Euros", "25 Euros")
    issues = [
        known(1, finding("26 Euros")),
        known(2, finding("30 people", severity=Severity.BLOCKER)),
        known(3, finding("Bo pays", "missing")),
        known(4, finding("Friday", "date"), IssueStatus.WAIVED),
    ]
    found = merged([finding("on Friday", "date"), finding("25 Euros")], body)
    after = after_refine(issues, body, found, resolved={3})
    assert [one.number for one in after.gone] == [1]
    assert standing(after.carried.values()).blockers == 1
    assert set(after.carried) == {issues[1].fingerprint, fingerprint(finding("25 Euros"))}


def test_going_back_to_a_text_opens_what_stands_in_it_again() -> None:
    fixed = known(1, finding("26 Euros"), IssueStatus.FIXED)
    other = known(2, finding("27 Euros"), IssueStatus.FIXED)
    newer = known(3, finding("of which nobody knew"))
    assert back_to([fixed, other, newer], BODY) == ([fixed], [newer])


def ended(now: Sequence[Severity], **more: Any) -> Reason | None:
    given = {
        "revision": 3,
        "found": frozenset({"a"}),
        "reopened": False,
        "history": ReviewHistory(),
        "pass_score": 90,
        **more,
    }
    return loop_end(standing(now), **given)


MAJOR, MINOR = Severity.MAJOR, Severity.MINOR
ONCE = ReviewHistory(found=(frozenset({"a"}),), penalties=(10,), revisions=(2,))


def test_the_loop_ends_when_it_passed_or_gets_nowhere() -> None:
    assert ended([]) == Reason.PASSED
    assert ended([MINOR] * 5) == Reason.PASSED
    assert ended([MINOR] * 6) is None, "the first review lets a refine try"
    assert ended([MINOR] * 6, history=ONCE) == Reason.NO_PROGRESS, "only minor ones are left"
    assert ended([MAJOR]) is None
    assert ended([MAJOR], history=ONCE) == Reason.NO_PROGRESS, "the same issues again"
    assert ended([MAJOR], history=ONCE, found=frozenset({"b"})) is None
    back = {"history": ONCE, "found": frozenset({"b"}), "reopened": True}
    assert ended([MAJOR], **back) == Reason.NO_PROGRESS, "one came back and nothing is better"


def test_a_text_that_is_read_again_gets_one_more_refine_and_no_third() -> None:
    again = replace(ONCE, revisions=(3,))
    assert ended([MAJOR], history=again) is None
    twice = ReviewHistory(
        found=(frozenset({"a"}), frozenset({"a"})), penalties=(10, 10), revisions=(3, 3)
    )
    assert ended([MAJOR], history=twice) == Reason.NO_PROGRESS


def test_hundreds_of_issues_of_a_long_text_are_compared_in_a_moment() -> None:
    body = "".join(f"- Line {n} costs {n} Euros.\n" for n in range(4000))
    issues = [known(n, finding(f"Line {n} costs")) for n in range(600)]
    found = merged([finding(f"{n} costs {n} Euros", "amount") for n in range(300, 900)], body)
    began = time.perf_counter()
    after = reviewed(list(found.values()), *issues, body=body)
    assert time.perf_counter() - began < 5
    assert len(after.fresh) == 600
