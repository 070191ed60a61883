"""Each rule of the protocol has a line of code that holds it and a test that would miss it."""

from __future__ import annotations

import pytest

from tests.architecture.sources import ROOT
from tests.protocol.markers import files_by_rule
from tests.protocol.removals import EXTRA, MODEL_ONLY, PENDING, REMOVALS
from tests.protocol.removals.removal import Removal
from tests.protocol.rules import RULES

KNOWN = set(RULES) | set(EXTRA)


@pytest.mark.parametrize("path", sorted({removal.path for removal in REMOVALS}))
def test_what_a_removal_takes_out_stands_once_in_its_file(path: str) -> None:
    mine = [removal for removal in REMOVALS if removal.path == path]
    assert [problem for removal in mine if (problem := removal.problem(ROOT))] == []
    assert [removal.rule for removal in mine if removal.old == removal.new] == []


def test_each_rule_has_a_removal_and_a_test_that_carries_its_marker() -> None:
    removed, marked = {removal.rule for removal in REMOVALS}, set(files_by_rule())
    expected = KNOWN - set(MODEL_ONLY) - PENDING
    assert sorted(expected - removed) == []
    assert sorted(expected - marked) == []


def test_a_rule_stands_in_one_place() -> None:
    removed = {removal.rule for removal in REMOVALS}
    assert sorted(set(MODEL_ONLY) & (removed | PENDING)) == []
    assert sorted(set(EXTRA) & set(RULES)) == []


def test_only_rules_of_the_protocol_are_named() -> None:
    named = set(files_by_rule()) | {removal.rule for removal in REMOVALS}
    assert sorted((named | set(MODEL_ONLY) | PENDING) - KNOWN) == []


def test_a_text_that_stands_twice_or_nowhere_is_no_removal() -> None:
    there = "tests/architecture/test_protocol_rules.py"
    assert Removal("living_wins", there, "absent" + " here", "").problem(ROOT)
    assert Removal("living_wins", there, "def test_", "").problem(ROOT)
    assert Removal("living_wins", "no/such/file.py", "a", "").problem(ROOT)
