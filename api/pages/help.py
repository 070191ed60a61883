"""The help page's lists: every state with its sentences, and what the words mean."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import metadata

from api.http.openapi import PRODUCT_VERSION
from api.pages.view import TONES
from api.texts.codes import N_
from api.texts.text import Catalogue, available, catalogue
from workflows.vocabulary import Phase, RunStatus

_GLOSSARY = (
    (N_("Document"), N_("What is being made right: title, kind, language, sources, revisions.")),
    (
        N_("Source"),
        N_("What a document is checked against. It is never followed as an instruction."),
    ),
    (N_("Revision"), N_("One numbered text of a document. It never changes; 0 is what came in.")),
    (N_("Run"), N_("One effort to bring a document to a confirmation.")),
    (N_("Round"), N_("One review and, if needed, one refine.")),
    (N_("Step"), N_("One piece of paid or slow work: transcribe, draft, review or refine.")),
    (N_("Attempt"), N_("Counts the executions of the same step; a stopped one stays listed.")),
    (N_("Part"), N_("A piece of a step that is asked for and kept alone, such as one reviewer.")),
    (
        N_("Call"),
        N_("One request to a model provider. Each one is counted, also those that failed."),
    ),
    (N_("Issue"), N_("One problem in a revision, with its quote and evidence from the source.")),
    (N_("Score"), N_("100 less 25 per open blocker, 10 per major and 2 per minor issue.")),
    (N_("Guardrail"), N_("A stop that protects money or safety. Only a person can go on from it.")),
    (N_("Profile"), N_("Which model answers, where, with which parameters and prices.")),
    (N_("Offered revision"), N_("The best revision so far: what you are asked to confirm.")),
)

_PARTS = ("temporalio", "fastapi", "asyncpg", "openai", "Jinja2", "babel", "pydantic", "nh3")
_LONGEST = 60

_ORDER = (
    Phase.QUEUED,
    RunStatus.RUNNING,
    Phase.WAITING_RETRY,
    Phase.RATE_LIMITED,
    Phase.WORKER_LOST,
    Phase.STOPPING,
    RunStatus.INTERRUPTED,
    RunStatus.AWAITING_CONFIRMATION,
    RunStatus.FAILED,
    RunStatus.CONFIRMED,
    RunStatus.REJECTED,
    RunStatus.CANCELLED,
)


@dataclass(frozen=True, kw_only=True)
class State:
    """One row of the table of states."""

    word: str
    tone: str
    waits: str
    can: str


def states(words: Catalogue) -> Sequence[State]:
    """Every word a run can be shown with."""
    return [_state(code, words) for code in _ORDER]


def _state(code: Phase | RunStatus, words: Catalogue) -> State:
    is_phase = isinstance(code, Phase)
    waits = "working" if code == RunStatus.RUNNING else code
    can = RunStatus.RUNNING if is_phase and code != Phase.STOPPING else code
    return State(
        word=words.sentence("phase" if is_phase else "status", code),
        tone=TONES[code],
        waits=words.sentence("waits", waits),
        can=words.sentence("can", can),
    )


@dataclass(frozen=True, kw_only=True)
class Entry:
    """A word of the glossary in the page's language, what it is in the others, its meaning."""

    word: str
    elsewhere: str
    meaning: str


def glossary(words: Catalogue) -> Sequence[Entry]:
    """Every word in both languages: teams speak both."""
    others = [catalogue(name) for name in available() if name != words.locale]
    return [
        Entry(
            word=words.text(word),
            elsewhere=", ".join(other.text(word) for other in others),
            meaning=words.text(meaning),
        )
        for word, meaning in _GLOSSARY
    ]


@lru_cache(maxsize=1)
def versions() -> Sequence[tuple[str, str, str]]:
    """Name, version and licence of Redraft and of what it is mostly made of, as installed."""
    return [("Redraft", PRODUCT_VERSION, "Apache-2.0"), *(_installed(name) for name in _PARTS)]


def _installed(name: str) -> tuple[str, str, str]:
    facts = metadata(name).json
    licence = str(facts.get("license_expression") or facts.get("license") or "")
    if not licence or len(licence) > _LONGEST:  # some put the whole text there
        named = [one for one in facts.get("classifier", ()) if one.startswith("License")]
        licence = named[0].rsplit("::", 1)[-1].strip() if named else ""
    return name, str(facts["version"]), licence
