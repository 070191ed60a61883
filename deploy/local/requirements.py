"""Holds `deploy/requirements.txt` (what pip installs) equal to `uv.lock` (what uv installs).

After a change of the lock:
uv export --frozen --all-groups --no-header --no-annotate -o deploy/requirements.txt
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

from deploy.local.options import ROOT

_PIN = re.compile(r"^([a-z0-9._-]+)(?:\[[a-z,]+\])?==([^ ;\\]+)", re.IGNORECASE)
_HASH = re.compile(r"--hash=(sha256:[0-9a-f]{64})")

Pins = dict[tuple[str, str], frozenset[str]]


def mismatches(root: Path = ROOT) -> list[str]:
    """Sentences about every package whose version or hashes differ; empty when equal."""
    locked = in_lock((root / "uv.lock").read_text(encoding="utf-8"))
    exported = in_requirements((root / "deploy" / "requirements.txt").read_text(encoding="utf-8"))
    found = [f"{n}=={v} is only in uv.lock" for n, v in sorted(locked.keys() - exported.keys())]
    found += [
        f"{n}=={v} is only in deploy/requirements.txt"
        for n, v in sorted(exported.keys() - locked.keys())
    ]
    return found + [
        f"{name}=={version} has other hashes in deploy/requirements.txt"
        for name, version in sorted(locked.keys() & exported.keys())
        if locked[name, version] != exported[name, version]
    ]


def in_lock(text: str) -> Pins:
    """Every locked package that comes from an index."""
    packages: list[dict[str, Any]] = tomllib.loads(text)["package"]
    return {
        (package["name"], package["version"]): frozenset(
            file["hash"] for file in [package.get("sdist"), *package.get("wheels", [])] if file
        )
        for package in packages
        if "registry" in package["source"]
    }


def in_requirements(text: str) -> Pins:
    """Raises ValueError for a line that is no pin: pip would refuse it, or fetch it unhashed."""
    pins: Pins = {}
    for line in text.replace("\\\n", " ").splitlines():
        if not line.strip():
            continue
        pin = _PIN.match(line)
        if pin is None:
            raise ValueError(f"deploy/requirements.txt: not a pin: {line[:80]}")
        pins[pin[1], pin[2]] = frozenset(_HASH.findall(line))
    return pins
