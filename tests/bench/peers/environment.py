"""The harness' own virtual environment: made once by pip, kept in the cache folder."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

MARK = "complete"
"""Holds the requirements the environment was made from; written last."""


class Impossible(Exception):
    """The peers cannot be measured here; the text says what to do."""


def default_folder(environment: Mapping[str, str]) -> Path:
    """Postgres runs under another account when we are root, and must be able to pass."""
    if os.geteuid() == 0:
        return Path("/var/cache/redraft/peers")
    given = environment.get("XDG_CACHE_HOME", "")
    home = Path(environment.get("HOME") or Path.home())
    return (Path(given) if os.path.isabs(given) else home / ".cache") / "redraft" / "peers"


def python_of(folder: Path, requirements: Path) -> Path:
    """The environment's interpreter; makes the environment when it is missing or of other
    requirements. Raises Impossible."""
    wanted = requirements.read_text(encoding="utf-8")
    python, mark = folder / "bin" / "python", folder / MARK
    if python.exists() and mark.exists() and mark.read_text(encoding="utf-8") == wanted:
        return python
    print(f"making the harness' environment in {folder} (once, some minutes) …", flush=True)
    try:
        shutil.rmtree(folder, ignore_errors=True)
        folder.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Impossible(f"{folder}: {error.strerror}. Name another with --venv.") from None
    _run([sys.executable, "-m", "venv", str(folder)], "Is Python's venv module installed?")
    words = ["install", "--quiet", "--disable-pip-version-check", "--no-input"]
    _run(
        [str(python), "-m", "pip", *words, "-r", str(requirements)],
        "Is the package index of pip's configuration reachable?",
    )
    mark.write_text(wanted, encoding="utf-8")
    return python


def clean(environment: Mapping[str, str]) -> dict[str, str]:
    """Without what would change how the harness, the peers or Redraft work."""
    ours = ("REDRAFT_", "OPENAI_", "TEMPORAL_", "BENCH_", "PYTHON")
    kept = {name: value for name, value in environment.items() if not name.startswith(ours)}
    return {name: value for name, value in kept.items() if not name.lower().endswith("_proxy")}


def _run(words: list[str], doubt: str) -> None:
    kept = {name: v for name, v in os.environ.items() if not name.startswith("PYTHON")}
    # Settings of a person for their own installs, which would make this one fail.
    kept |= {"PIP_USER": "0", "PIP_REQUIRE_VIRTUALENV": "0"}
    done = subprocess.run(words, env=kept, check=False)
    if done.returncode != 0:
        raise Impossible(f"{' '.join(words[1:4])} failed (its words are above). {doubt}")
