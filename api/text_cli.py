"""Words of the command line that are not in the pages: heads of its tables, what comes next."""

from __future__ import annotations

from collections.abc import Mapping

from api.text_codes import N_

HEADS: Mapping[str, str] = {
    "STATUS": N_("Status"),
    "ROUND": N_("Round"),
    "SCORE": N_("Score"),
    "TITLE": N_("Title"),
    "AGE": N_("Age"),
    "OPEN": N_("Open"),
    "ISSUE": N_("Issue"),
    "SEVERITY": N_("Severity"),
    "PROBLEM": N_("Problem"),
    "NAME": N_("Name"),
    "VERSION": N_("Version"),
    "MODEL": N_("Model"),
    "ADDRESS": N_("Address"),
    "KEY": N_("Key"),
    "PRICE": N_("Price"),
}
NEXT = N_("next: {act}")
