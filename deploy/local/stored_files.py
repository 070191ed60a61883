"""The files of a backup: those that rows name, and whether they are what was stored."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import unquote, urlsplit

from deploy.local.data import DataDirectory

_ROWS = re.compile(
    r"^COPY (?:\w+\.)?blobs \((?P<columns>[^)]*)\) FROM stdin;\n(?P<rows>.*?)^\\\.$", re.M | re.S
)
_OURS = "blob:"


def folder_of(data: DataDirectory) -> Path:
    """Where the stack keeps files: as its variable says, here or in what it wrote as it came up."""
    url = os.environ.get("REDRAFT_BLOB_URL", "")
    if not url and data.environment_file.exists():
        lines = data.environment_file.read_text(encoding="utf-8").splitlines()
        url = dict(line.split("=", 1) for line in lines if "=" in line).get("REDRAFT_BLOB_URL", "")
    return Path(unquote(urlsplit(url).path)) if url.startswith("file:") else data.blobs


def present(folder: Path) -> list[Path]:
    """Whole files in their places; what is being written and the marks of it are left out."""
    return sorted(path for path in folder.glob("??/*") if path.is_file())


def named(script: str) -> dict[str, str]:
    """SHA-256 by file name, of the rows of `blobs` in a script of pg_restore."""
    found = _ROWS.search(script)
    if found is None:
        return {}
    columns = [name.strip() for name in found["columns"].split(",")]
    rows = [
        dict(zip(columns, line.split("\t"), strict=True)) for line in found["rows"].splitlines()
    ]
    return {
        row["uri"].removeprefix(_OURS): row["sha256"]
        for row in rows
        if row["uri"].startswith(_OURS)
    }


def settle(folder: Path, wanted: Mapping[str, str]) -> tuple[list[str], list[str]]:
    """Removes files that no row names: they were uploaded or deleted while the backup was made.
    The names of those that are missing, and of those that are not what was stored."""
    there = {path.name: path for path in present(folder)}
    for name in there.keys() - wanted.keys():
        there[name].unlink()
    missing = sorted(wanted.keys() - there.keys())
    damaged = [
        name for name in sorted(wanted) if name in there and not _is(there[name], wanted[name])
    ]
    return missing, damaged


def _is(path: Path, sha256: str) -> bool:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest() == sha256
