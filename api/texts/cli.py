"""Words of the command line that are not in the pages: heads of its tables."""

from __future__ import annotations

from collections.abc import Mapping

from api.texts.codes import N_

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
    "FALLBACK": N_("Fallback"),
    "REV": N_("Revision"),
    "FROM": N_("Made by"),
    "BASE": N_("Based on"),
    "MARKS": N_("Marks"),
    "CHARACTERS": N_("Characters"),
    "BY": N_("By"),
    "PASSAGE": N_("Passage"),
    "N": N_("No."),
    "STEP": N_("Step"),
    "PART": N_("Part"),
    "PARTS": N_("Parts"),
    "END": N_("Ended by"),
    "IN": N_("Tokens in"),
    "CACHED": N_("Cached"),
    "OUT": N_("Tokens out"),
    "COST": N_("Cost"),
    "KEPT": N_("Kept"),
    "TOOK": N_("Took"),
    "ITEMS": N_("Items"),
    "DROPPED": N_("Dropped"),
    "RUN": N_("Run"),
    "CALL": N_("Call"),
    "WHAT": N_("By"),
    "AT": N_("Started"),
}
