"""`./redraft test --local-llm`: fetches the model, then runs the tests of this folder."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.local_llm.parts import VARIABLE, Impossible, fetch, say
from tests.promised import Part, how_to_get, is_there

_SERVICES = (Part.POSTGRES, Part.TEMPORAL)


def run(options: Sequence[str]) -> int:
    """The exit code; 1 with a sentence where the model or a service cannot be had."""
    for part in _SERVICES:
        if not is_there(part):
            say(f"--local-llm needs {part}: {how_to_get(part)}")
            return 1
    try:
        model = fetch(os.environ)
    except Impossible as error:
        say(str(error))
        return 1
    os.environ[VARIABLE] = str(model.packages.parent)
    say("whole runs against a real model: minutes on a quiet machine, at most an hour")
    named = any(word.split("::")[0].endswith(".py") for word in options)
    where = [] if named else [str(Path(__file__).parent)]
    return int(pytest.main([*where, "-v", "-rfE", *options]))
