"""Files of documents that are too large for rows: recordings, in one folder.

A file is written beside its place, then moved there in one step, so what has a name is whole. Names
are never used twice: whoever removes one late, or once more, hits nothing else.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO
from urllib.parse import unquote, urlsplit

from deploy.database import new_id

ORPHAN_SECONDS = 3600.0
"""A file younger than this may belong to a row that is being written."""
_URI = re.compile(r"blob:([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})")
_INCOMING, _UNSETTLED = "incoming", "unsettled"


class NoStore(Exception):
    """`REDRAFT_BLOB_URL` is not set, or names what this version cannot write to."""


class Incoming:
    """A file that is being written: counts and digests; gone at `close` unless it was kept.

    It stands where the form parser expects a binary file: `write`, `seek` and `close`.
    """

    def __init__(self, store: BlobStore) -> None:
        self.uri = f"blob:{new_id()}"
        self.bytes, self._digest, self._store = 0, hashlib.sha256(), store
        self.path = store.root / _INCOMING / self.uri.removeprefix("blob:")
        self._file: BinaryIO = open(self.path, "xb")  # noqa: SIM115 - closed by close()
        self.kept = False

    @property
    def sha256(self) -> str:
        return self._digest.hexdigest()

    def write(self, data: bytes) -> int:
        self._digest.update(data)
        self.bytes += len(data)
        return self._file.write(data)

    def seek(self, offset: int, whence: int = 0) -> int:
        """Written once, from the start to the end; who reads it opens `path`."""
        self._file.flush()
        return 0

    def keep(self) -> None:
        """On disk under its final name when this returns, and marked until `settle`: it may never
        get its row. Raises OSError, also for a full disk."""
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()
        self._mark.touch()
        _sync(self._mark.parent)
        target = self._store.path(self.uri)
        target.parent.mkdir(exist_ok=True)
        os.replace(self.path, target)
        _sync(target.parent)
        self.kept = True

    @property
    def _mark(self) -> Path:
        return self._store.root / _UNSETTLED / self.path.name

    def touch(self) -> bool:
        """The mark is young again, so that no sweep comes while the row is written; whether the
        file is there."""
        try:
            os.utime(self._mark)
        except FileNotFoundError:
            return False
        return self._store.path(self.uri).exists()

    def settle(self) -> None:
        """Its row is committed."""
        self._store.settle(self.uri)

    def discard(self) -> None:
        """No row will name it."""
        self._store.remove(self.uri)
        self.close()

    def close(self) -> None:
        self._file.close()
        if not self.kept:
            self.path.unlink(missing_ok=True)


class BlobStore:
    """The folder of `REDRAFT_BLOB_URL`; API and workers see the same one."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        if parts.scheme != "file" or parts.netloc not in ("", "localhost") or not parts.path:
            raise NoStore(
                "set REDRAFT_BLOB_URL to a folder, as file:///folder"
                if not url
                else "REDRAFT_BLOB_URL: only folders can be written to so far, as file:///folder"
            )
        self.root = Path(unquote(parts.path))

    def receive(self) -> Incoming:
        """Room for a new file. Raises OSError."""
        for name in (_INCOMING, _UNSETTLED):
            (self.root / name).mkdir(parents=True, exist_ok=True)
        return Incoming(self)

    def path(self, uri: str) -> Path:
        """Where a blob stands. Raises ValueError for what this store never gave out."""
        found = _URI.fullmatch(uri)
        if found is None:
            raise ValueError("no blob of this store")
        return self.root / uri[-2:] / found[1]

    def remove(self, uri: str) -> None:
        """Gone afterwards, whoever else removes it. Raises OSError other than "not there", and
        ValueError."""
        path = self.path(uri)
        path.unlink(missing_ok=True)
        self.settle(uri)

    def settle(self, uri: str) -> None:
        """Whether it has a row is known now."""
        (self.root / _UNSETTLED / self.path(uri).name).unlink(missing_ok=True)

    def unsettled(self, seconds: float = ORPHAN_SECONDS) -> list[str]:
        """Files whose process ended, `seconds` ago or more, between their place and their row.
        Half ones of that age are removed here."""
        for path in self._older(_INCOMING, seconds):
            path.unlink(missing_ok=True)
        uris = (f"blob:{path.name}" for path in self._older(_UNSETTLED, seconds))
        return [uri for uri in uris if _URI.fullmatch(uri)]

    def _older(self, folder: str, seconds: float) -> Iterator[Path]:
        before = time.time() - seconds
        with contextlib.suppress(FileNotFoundError):
            for path in (self.root / folder).iterdir():
                with contextlib.suppress(FileNotFoundError):
                    if path.stat().st_mtime <= before:
                        yield path


def _sync(folder: Path) -> None:
    """The new name itself survives a power cut."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
