"""Every code has a sentence, every string of a page goes through the catalogue."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import jinja2
import pytest

from activities.failures import SENTENCES
from api import wire
from api.http.times import EARLIEST, within
from api.pages import view as pages_view
from api.pages.help import states
from api.texts import codes, extract, failures
from api.texts.text import catalogue
from tests.unit.pages_rows import a_run
from workflows.kinds.itinerary import verifiers as itinerary
from workflows.kinds.minutes import verifiers as minutes
from workflows.kinds.text import verifiers as text
from workflows.vocabulary import (
    FINAL,
    CallStatus,
    ErrorCode,
    EventType,
    IssueStatus,
    Phase,
    Reason,
    RunStatus,
    Severity,
    Stage,
    StepName,
    StepStatus,
    UsageSource,
)

WORDS = catalogue("en")
API = Path(extract.__file__).parent.parent
TEMPLATES = sorted((API / "templates").glob("*.html"))
SCRIPTS = sorted((API / "static").glob("*.js"))

FAMILIES: dict[str, Iterable[str]] = {
    "status": [*RunStatus, *StepStatus, *CallStatus],
    "phase": Phase,
    "waits": [*Phase, *(status for status in RunStatus if status != RunStatus.RUNNING)],
    "can": RunStatus,
    "stage": Stage,
    "step": StepName,
    "reason": Reason,
    "severity": Severity,
    "issue_status": IssueStatus,
    "event": EventType,
    "refusal": ErrorCode,
    "usage": UsageSource,
}


@pytest.mark.parametrize("family", FAMILIES)
def test_every_code_has_a_wording_that_needs_no_parameter(family: str) -> None:
    for code in FAMILIES[family]:
        wordings = codes.WORDINGS[family].get(code)
        assert wordings, f"{family}: {code} has no sentence"
        assert "{" not in WORDS.sentence(family, code)


def test_a_sentence_takes_the_fullest_wording_whose_places_are_known() -> None:
    assert WORDS.sentence("waits", "queued", {"ahead": 1200}).startswith(
        "Waits for a free worker; 1,200 ahead"
    )
    assert WORDS.sentence("waits", "queued", {"ahead": None}) == "Waits for a free worker."
    assert WORDS.sentence("reason", "from_a_newer_worker") == "from a newer worker"


def test_a_brace_in_a_parameter_is_only_text() -> None:
    assert WORDS.sentence("event", "worker_lost", {"worker": "{0.__class__}"}) == (
        "Worker {0.__class__} lost"
    )


def test_numbers_and_money_never_turn_unknown_into_nothing() -> None:
    assert WORDS.money(None, "USD") == "unknown"
    assert WORDS.money("0", "USD") == "$0.00"
    assert WORDS.money("0.0123456", "USD") == "$0.0123"
    assert WORDS.money("1234.5", "EUR") == "€1,234.50"
    assert WORDS.compact(1_234_567) == "1.2M"
    assert WORDS.compact(9_999) == "9,999"
    assert WORDS.duration(3725.9) == "1:02:05"


def _every_situation() -> list[wire.Run]:
    runs = [a_run(status=status) for status in RunStatus]
    runs += [a_run(phase=phase) for phase in Phase]
    runs += [a_run(status=RunStatus.INTERRUPTED, reason=reason) for reason in Reason]
    runs += [a_run(status=RunStatus.FAILED, reason=reason) for reason in Reason]
    return runs


def test_every_run_says_what_it_is_what_it_waits_for_and_what_a_person_can_do() -> None:
    for run in _every_situation():
        told = pages_view.situation(run, WORDS)
        for sentence in (told.word, told.headline, told.waits, told.can):
            assert sentence.strip(), (run.status, run.phase, told)
        assert told.tone in ("running", "waiting", "done", "failed", "interrupted", "neutral")
        assert bool(told.offers) == (run.status not in FINAL)


def test_offers_are_exactly_the_moves_that_are_allowed() -> None:
    offers = {status: set(pages_view.situation(a_run(status=status), WORDS).offers)
              for status in RunStatus}  # fmt: skip
    assert offers[RunStatus.RUNNING] == {"interrupt", "cancel"}
    assert offers[RunStatus.INTERRUPTED] == {"resume", "cancel"}
    assert offers[RunStatus.FAILED] == {"resume", "cancel"}
    assert offers[RunStatus.AWAITING_CONFIRMATION] == {"confirm", "rework", "reject", "cancel"}


def test_a_guardrail_asks_for_the_override_and_a_limit_for_the_limit() -> None:
    spinning = a_run(status=RunStatus.FAILED, reason=Reason.SPINNING, guardrail="spinning")
    assert pages_view.situation(spinning, WORDS).needs_override
    limit = pages_view.situation(
        a_run(status=RunStatus.INTERRUPTED, reason=Reason.LIMIT_COST, params={"limit": "2"}), WORDS
    )
    assert limit.word == "Stopped by limit"
    assert limit.raised_limit == "limit_cost"
    assert limit.reason == "The cost limit of 2 is reached."


def test_a_retry_says_why_and_when() -> None:
    at = datetime.now(UTC) + timedelta(seconds=40)
    run = a_run(
        phase=Phase.WAITING_RETRY, params={"last_error": "http_503", "next_at": at.isoformat()}
    )
    told = pages_view.situation(run, WORDS)
    assert told.waits == (
        "The model server answered with an error (HTTP 503). The next try begins by itself."
    )
    assert told.next_at == at


def test_a_list_says_what_keeps_a_running_run_from_its_work() -> None:
    retrying = a_run(phase=Phase.WAITING_RETRY, params={"last_error": "http_503"})
    assert "HTTP 503" in pages_view.held(retrying, WORDS)
    assert "Worker" in pages_view.held(
        a_run(phase=Phase.WORKER_LOST, params={"worker": "w"}), WORDS
    )
    assert pages_view.held(a_run(), WORDS) == ""
    assert pages_view.held(a_run(status=RunStatus.CONFIRMED), WORDS) == ""


def test_chinese_sentences_stand_together_without_a_gap() -> None:
    run = a_run(status=RunStatus.FAILED, reason=Reason.PROVIDER_REFUSED, params={"code": "bad_key"})
    assert "。 " not in pages_view.reason(run, catalogue("zh_Hans"))


def test_every_rule_of_our_kinds_has_a_name_in_both_languages() -> None:
    names = {*itinerary.VERIFIERS, *minutes.VERIFIERS, *text.VERIFIERS}
    assert names == set(codes.WORDINGS["rule"])
    chinese = catalogue("zh_Hans")
    assert not [name for name in names if chinese.sentence("rule", name).isascii()]


def test_a_stored_failure_of_a_call_is_told_in_the_readers_language() -> None:
    assert set(failures.OURS) == set(SENTENCES.values())
    chinese = catalogue("zh_Hans")
    assert not [one for one in failures.OURS if chinese.text(one).isascii()]
    stored = "The model server answered 500. It says: The server had an error."
    told = failures.failure_told(stored, chinese)
    assert told == "模型服务器返回错误（HTTP 500）。服务器说：The server had an error."
    assert failures.failure_told("something else", chinese) == "something else"


def test_a_refusing_provider_is_named_with_what_to_do() -> None:
    run = a_run(status=RunStatus.FAILED, reason=Reason.PROVIDER_REFUSED, params={"code": "bad_key"})
    assert "set a valid one" in pages_view.situation(run, WORDS).reason


def test_a_run_stopped_after_its_review_stands_before_the_refine_of_that_round() -> None:
    run = a_run(status=RunStatus.INTERRUPTED, reason=Reason.OPERATOR)
    run = run.model_copy(update={"next_step": wire.NextStep(name="refine", round=1)})
    told = pages_view.situation(run, WORDS)
    assert told.headline == "Stopped while refining, round 1 of at most 5"
    assert pages_view.at_round(run) == 1
    ended = run.model_copy(update={"next_step": None, "current_round": 4})
    assert pages_view.situation(ended, WORDS).headline == "The loop has ended after 4 rounds"
    assert pages_view.at_round(ended) == 4


def test_a_score_names_its_revision_only_when_another_text_is_shown() -> None:
    run = a_run(status=RunStatus.AWAITING_CONFIRMATION, reason=Reason.ROUND_LIMIT)
    assert pages_view.scored_before(run) is None
    refined = run.model_copy(update={"offered_revision": 1, "working_revision": 1})
    assert pages_view.scored_before(refined) == 0
    assert pages_view.scored_before(refined.model_copy(update={"score": None})) is None


def test_sentences_with_a_number_are_right_for_one() -> None:
    run = a_run(status=RunStatus.AWAITING_CONFIRMATION, reason=Reason.ROUND_LIMIT)
    told = pages_view.reason(run.model_copy(update={"max_rounds": 1}), WORDS)
    assert told == "The limit of rounds (1) is reached; the best revision is offered."
    assert not re.search(r"\b1 (rounds|calls|tokens|seconds)", told)


def test_help_lists_every_word_a_run_can_be_shown_with() -> None:
    shown = {pages_view.badge(run, WORDS).word for run in _every_situation()}
    assert shown <= {state.word for state in states(WORDS)} | {"Stopped by limit"}


def test_the_template_of_catalogues_is_that_of_the_code() -> None:
    written = extract.TEMPLATE.read_text(encoding="utf-8")
    assert written == extract.extract(), "run: python -m api.texts.extract"


_ATTRIBUTES = re.compile(
    r'\s(?:aria-label|title|placeholder|alt|content)="([^"{]*[A-Za-z]{3}[^"]*)"'
)
_META = ("width=device-width", "light dark")


_MARKUP = {"aria", "invalid", "true", "describedby", "hint", "error", "HTTP", "OpenAPI", "CSV"}
"""Pieces of attributes that a macro puts together, and names that are the same everywhere."""


def _visible(source: str) -> str:
    """What of a template reaches a reader as it stands: outside of tags, blocks and comments."""
    environment = jinja2.Environment(extensions=["jinja2.ext.i18n"])
    kept, translated = [], False
    for _, token, value in environment.lex(source):
        if token == "name" and value in ("trans", "endtrans"):
            translated = value == "trans"
        if token == "data" and not translated:
            kept.append(value)
    return "".join(kept)


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.name)
def test_no_text_of_a_template_passes_the_catalogue_by(path: Path) -> None:
    plain = _visible(path.read_text(encoding="utf-8"))
    for found in _ATTRIBUTES.findall(plain):
        assert found.startswith(_META), found
    text = re.sub(r"<[^<>]*>", " ", plain, flags=re.S)
    assert set(re.findall(r"[A-Za-z]{3,}", text)) <= _MARKUP


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.name)
def test_a_template_has_no_inline_script_or_style_and_nothing_unescaped(path: Path) -> None:
    source = path.read_text(encoding="utf-8")
    assert not re.search(r"\sstyle=|\son[a-z]+=|javascript:|\|\s*safe\b|autoescape", source)
    assert "<style" not in source
    assert all("src=" in tag for tag in re.findall(r"<script[^>]*>", source))
    assert not re.search(r'(?:src|href)="(?:https?:)?//', source)


def test_modules_are_small_and_know_every_event() -> None:
    for path in SCRIPTS:
        source = path.read_text(encoding="utf-8")
        assert len(source.splitlines()) < 300, path.name
        assert not re.search(r"innerHTML\s*=[^=]|outerHTML|insertAdjacentHTML|eval\(", source)
    source = (API / "static" / "stream.js").read_text(encoding="utf-8")
    listed = source.partition("TYPES = [")[2].partition("]")[0]
    assert set(re.findall(r'"(\w+)"', listed)) == set(EventType)


def test_no_stored_time_is_beyond_the_calendar_of_a_zone() -> None:
    last, first = datetime.max.replace(tzinfo=UTC), datetime.min.replace(tzinfo=UTC)
    for zone in (timezone(timedelta(hours=14)), timezone(timedelta(hours=-12))):
        assert catalogue("en").moment(last, zone)
        assert catalogue("en").moment(first, zone)


def test_a_time_that_may_be_sent_has_a_day_before_and_after_it_in_every_zone() -> None:
    for at in (
        "9999-12-31T23:59:59-14:00",
        "9999-01-01T00:00:00+00:00",
        "0001-01-01T00:00:00+14:00",
    ):
        with pytest.raises(ValueError, match="1970 to 9998"):
            within(datetime.fromisoformat(at))
    assert within(datetime.fromisoformat("1970-01-01T02:00:00+02:00")) == EARLIEST


@pytest.mark.parametrize(
    ("family", "code", "params", "said"),
    [
        ("event", "step_started", {"name": "Draft", "attempt": 1}, "Draft started, attempt 1"),
        ("event", "step_succeeded", {"name": "Draft"}, "Draft done"),
        ("waits", "working", {"step": "Draft"}, "At work: Draft."),
    ],
)
def test_a_draft_is_of_no_round(
    family: str, code: str, params: dict[str, object], said: str
) -> None:
    assert WORDS.sentence(family, code, {**params, "round": 0}) == said
    assert "1" in WORDS.sentence(family, code, {**params, "round": 1})
