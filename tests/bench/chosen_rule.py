"""A pytest plugin (`-p tests.bench.chosen_rule --rule NAME --told FILE`): one rule's tests.

Keeps the tests that carry the rule's marker, stops after the first that fails in its own body, and
writes what happened as JSON: an error of collection or of a fixture is no failure of a test.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--rule", required=True)
    parser.addoption("--told", required=True, type=Path)


def pytest_configure(config: pytest.Config) -> None:
    chosen = _Chosen(config.getoption("--rule"), config.getoption("--told"))
    config.pluginmanager.register(chosen, "chosen-rule")


class _Chosen:
    def __init__(self, rule: str, told: Path) -> None:
        self._rule, self._told = rule, told
        self._ran: list[str] = []
        self._failed: list[dict[str, str]] = []
        self._errors: list[dict[str, str]] = []

    def pytest_collection_modifyitems(
        self, config: pytest.Config, items: list[pytest.Item]
    ) -> None:
        kept = [item for item in items if self._rule in _rules(item)]
        config.hook.pytest_deselected(items=[item for item in items if item not in kept])
        items[:] = kept

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self._errors.append({"test": report.nodeid, "said": _last_words(report.longreprtext)})

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" and not report.skipped:
            self._ran.append(report.nodeid)
        if report.failed:
            into = self._failed if report.when == "call" else self._errors
            into.append({"test": report.nodeid, "said": _last_words(report.longreprtext)})

    def pytest_runtest_logfinish(self) -> None:
        self._write()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> object:
        done = yield
        if self._failed:
            item.session.shouldstop = "a test of the rule failed"
        return done

    def pytest_sessionfinish(self) -> None:
        self._write()

    def _write(self) -> None:
        content = {"ran": self._ran, "failed": self._failed, "errors": self._errors}
        self._told.write_text(json.dumps(content), encoding="utf-8")


def _rules(item: pytest.Item) -> set[str]:
    return {name for marker in item.iter_markers("rule") for name in marker.args}


def _last_words(text: str) -> str:
    """Of a failure: the lines pytest marks as its cause, shortened."""
    marked = [line[1:].strip() for line in text.splitlines() if line.startswith("E  ")]
    return " | ".join(line for line in marked if line)[:300] or text.strip()[-300:]
