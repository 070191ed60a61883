"""The model holds: scenarios are clean, each rule is needed, what is interesting is in reach.

Only what takes a core a few seconds together; `./redraft bench protocol` searches the rest.
"""

from __future__ import annotations

import pytest

from tests.protocol.__main__ import Said, clean, reached, removed
from tests.protocol.rules import ASSUMPTIONS, RULES
from tests.protocol.scenario import DEEP, SCENARIOS, Scenario
from tests.protocol.state import FAULTS
from tests.protocol.witness import WITNESSES

QUICK = (
    *("no fault", "kill", "freeze", "parts: kill, restart", "two kills", "kill, lost marker"),
    *("hand-over", "partition, kill", "partition, interrupt", "backend crash, kill"),
    "restart, block",
)
FAR = {"the bound is tight: three lost of three disturbances"}
SHOWN = [name for name, rule in (RULES | ASSUMPTIONS).items() if not rule.hidden]


def _story(said: Said) -> str:
    return "\n".join((said.line, *said.trace))


@pytest.mark.parametrize("name", QUICK)
def test_a_scenario_is_clean(name: str) -> None:
    said = clean(name, SCENARIOS[name])
    assert said.fine, _story(said)


@pytest.mark.parametrize("name", SHOWN)
def test_without_a_rule_something_breaks(name: str) -> None:
    said = removed(name)
    assert said.fine, _story(said)


@pytest.mark.parametrize("name", [name for name in WITNESSES if name not in FAR])
def test_what_the_protocol_is_about_is_within_reach(name: str) -> None:
    said = reached(name)
    assert said.fine, said.line


def test_scenarios_name_faults_that_are_there_and_leave_none_out() -> None:
    texts = [*SCENARIOS.values(), *DEEP.values(), *(rule.shows for rule in RULES.values())]
    for text in texts:
        assert set(Scenario(text).bounds) <= {*FAULTS, "total", "limit"}, text
    named = [word.partition(":")[0] for text in SCENARIOS.values() for word in text.split()[1:]]
    assert set(FAULTS) <= set(named)


def test_rules_that_go_together_are_rules() -> None:
    assert {also for rule in RULES.values() for also in rule.also} <= set(RULES)
