"""Figures as a table to read and as one JSON file, with what they were measured on."""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import psutil

from deploy.local.data import engine_versions
from tests.bench.figures import At, Figure
from tests.services import ROOT

_LIBRARIES = ("temporalio", "asyncpg", "fastapi", "uvicorn", "httpx2")
_HEAD = ("measure", "n", "p50", "p95", "p99", "max", "unit", "target", "met")
_WIDTHS = (44, 5, 9, 9, 9, 9, 7, 28, 4)


def machine() -> dict[str, Any]:
    """What the figures depend on. `load` above the number of cores: they mean little."""
    return {
        "at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "cores": os.cpu_count(),
        "memory_gb": round(psutil.virtual_memory().total / 1024**3, 1),
        "load": round(os.getloadavg()[0], 2),
        "python": platform.python_version(),
        "revision": _revision(),
        **engine_versions(),
        **{name: importlib.metadata.version(name) for name in _LIBRARIES},
    }


def _revision() -> str:
    """Of the checkout; empty outside of one."""
    try:
        found = subprocess.run(
            ["git", "rev-parse", "--short", "HEAD"],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
        )
    except OSError:
        return ""
    return found.stdout.strip()


def print_head() -> None:
    _print_row(_HEAD)
    print("-" * (sum(_WIDTHS) + 2 * len(_WIDTHS)))


def print_figure(figure: Figure) -> None:
    met = {None: "", True: "yes", False: "NO"}[figure.met]
    numbers = [f"{figure.value(at):.2f}" for at in At]
    targets = ", ".join(map(str, figure.targets))
    _print_row((figure.name, str(len(figure.samples)), *numbers, figure.unit, targets, met))
    for name, detail in figure.details.items():
        if isinstance(detail, int | float):
            print(f"    {name}: {detail:g}")
        elif isinstance(detail, dict) and all(isinstance(v, int | float) for v in detail.values()):
            print(f"    {name}: " + ", ".join(f"{key} {value:g}" for key, value in detail.items()))


def _print_row(cells: Sequence[str]) -> None:
    words = []
    for place, (cell, width) in enumerate(zip(cells, _WIDTHS, strict=True)):
        words.append(cell.rjust(width) if 1 <= place <= 5 else cell.ljust(width))
    print("  ".join(words).rstrip(), flush=True)


def write_json(path: Path, facts: dict[str, Any], figures: Sequence[Figure]) -> None:
    content = {"machine": facts, "figures": [figure.as_json() for figure in figures]}
    path.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
