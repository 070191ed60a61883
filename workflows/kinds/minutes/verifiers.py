"""The verifiers of minutes, by name. Each is measured for false alarms before it may stay."""

from __future__ import annotations

from collections.abc import Mapping

from workflows.kinds.checked import Verifier
from workflows.kinds.facts.dates import verify_dates
from workflows.kinds.facts.languages import verify_language, where_read
from workflows.kinds.facts.layout import verify_layout
from workflows.kinds.facts.names import verify_names
from workflows.kinds.facts.numbers import verify_numbers
from workflows.kinds.facts.repeats import verify_repeats
from workflows.kinds.facts.script import compared_alike
from workflows.kinds.facts.terms import verify_terms
from workflows.kinds.facts.times import verify_times
from workflows.kinds.facts.wording import verify_wording

from .actions import verify_actions
from .agenda import verify_agenda
from .decisions import verify_decisions
from .owners import verify_owners

VERIFIERS: Mapping[str, Verifier] = {
    name: compared_alike(verifier)
    for name, verifier in {
        "numbers": where_read(verify_numbers),
        "dates": where_read(verify_dates),
        "times": where_read(verify_times),
        "names": where_read(verify_names, words=True),
        "terms": where_read(verify_terms, words=True),
        "owners": where_read(verify_owners, words=True),
        "actions": where_read(verify_actions, words=True),
        "decisions": where_read(verify_decisions, words=True),
        "agenda": where_read(verify_agenda, words=True),
        "repeats": verify_repeats,
        "layout": verify_layout,
        "wording": verify_wording,
        "language": verify_language,
    }.items()
}
