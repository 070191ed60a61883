"""`backup FILE` and `restore FILE`: one tar with the database, the files of documents (recordings
and originals) and the versions.

Temporal's file is left out on purpose: rows are the truth, and runs go on from them. A restore is
made beside the present data and takes its place only when it is whole.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any
from urllib.parse import unquote, urlsplit, urlunsplit

from deploy.local import binaries, ports, postgres, stored_files
from deploy.local.data import FORMAT, POSTGRES_MAJOR, DataDirectory, check_versions, write_versions
from deploy.local.errors import PartFailed, Refused
from deploy.local.postgres import DATABASE, SUPERUSER, Postgres
from deploy.local.processes import ProcessTable
from deploy.local.supervise import Child
from deploy.terminal import say, told

_DUMP = "database.dump"
_MANIFEST = "manifest.json"
_PARTS = ("postgres", "temporal", "blobs", "secrets.json", "state.json", "version.json")


def backup(data: DataDirectory, file: Path, database_url: str = "", *, force: bool = False) -> int:
    """Works while the stack is up and while it is down. The file is made whole or not at all."""
    if not data.used and not database_url:
        raise Refused(f"{data.root} holds no data of Redraft; nothing to back up.")
    _check_target(file, force=force)
    if not database_url:
        _check_reachable(data)
    unfinished = file.with_name(f".{file.name}.unfinished")
    try:
        with tempfile.TemporaryDirectory(prefix="redraft-backup-") as folder:
            dump = Path(folder) / _DUMP
            with _writing(file):
                packed = _pack(data, dump, unfinished, lambda: _dump(data, dump, database_url))
                missing = _named(dump).keys() - packed
                unfinished.replace(file)
    finally:
        with contextlib.suppress(OSError):  # its folder may have gone with it
            unfinished.unlink(missing_ok=True)
    size = file.stat().st_size / 1e6
    say(f"Backup written to {file} ({size:.1f} MB, {_files(len(packed))} of documents).")
    if missing:
        where = stored_files.folder_of(data)
        _warn(
            f"{_files(len(missing))} that documents name are not in {where}, so not in the backup. "
            "Are they elsewhere? Set REDRAFT_BLOB_URL to that folder, as for the stack."
        )
    return 0


def _files(number: int) -> str:
    return told("1 file" if number == 1 else f"{number} files")


def _warn(sentence: str) -> None:
    print(told(sentence), file=sys.stderr)


def _check_target(file: Path, *, force: bool) -> None:
    """Before the long work: raises Refused where the file could not be put in the end."""
    if file.is_dir():
        raise Refused(f"{file} is a folder; name a file in it, for example {file / 'redraft.tar'}.")
    if file.exists() and not force:
        raise Refused(f"{file} exists. Name another file, or give --force to replace it.")
    folder = file.absolute().parent
    if not folder.is_dir():
        raise Refused(f"There is no folder {folder}; make it, or name a file elsewhere.")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise Refused(f"Nothing can be written in {folder}; name a file elsewhere.")


@contextlib.contextmanager
def _writing(file: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise Refused(
            f"{file} cannot be written: {error.strerror or error}. Name a file elsewhere."
        ) from error


def _port(data: DataDirectory) -> int | None:
    port: int | None = (data.read("live.json").get("ports") or {}).get("Postgres")
    return port


def _check_reachable(data: DataDirectory) -> None:
    if data.holder() is not None and _port(data) is None:
        raise Refused(
            f"{data.root} is in use, and its database is not embedded or not up yet. "
            "Give --database-url, or try again when it is up."
        )


def _dump(data: DataDirectory, dump: Path, database_url: str) -> None:
    if database_url:
        _run("pg_dump", *_by_url(database_url), *_dump_words(dump))
        return
    _check_reachable(data)
    port = _port(data)
    if data.holder() is not None and port is not None:
        _run("pg_dump", *_embedded(data, port), *_dump_words(dump))
        return
    with data.held("backup"):
        check_versions(data)
        asyncio.run(_dump_alone(data, dump))


async def _dump_alone(data: DataDirectory, dump: Path) -> None:
    async with _postgres_alone(data) as server:
        _run("pg_dump", *_embedded(data, server.port), *_dump_words(dump))


@contextlib.asynccontextmanager
async def _postgres_alone(data: DataDirectory) -> AsyncIterator[Postgres]:
    table, chosen = ProcessTable(), ports.Ports()
    server = postgres.find(data, chosen.next_free(ports.POSTGRES))
    await postgres.make_cluster(server, table)
    child = Child(server.part(), table, print)
    watch = asyncio.create_task(child.watch())
    try:
        ready = asyncio.create_task(child.ready.wait())
        await asyncio.wait({watch, ready}, return_when=asyncio.FIRST_COMPLETED)
        ready.cancel()
        if watch.done():
            watch.result()
        yield server
    finally:
        watch.cancel()
        await asyncio.gather(watch, return_exceptions=True)
        await child.end()


def _dump_words(dump: Path) -> tuple[str, ...]:
    return ("--format=custom", "--no-unlogged-table-data", "--no-password", f"--file={dump}")


def _embedded(data: DataDirectory, port: int) -> tuple[str, str]:
    """Connection words of a program, and the password for its environment."""
    words = f"host=127.0.0.1 port={port} user={SUPERUSER} dbname={DATABASE}"
    return f"--dbname={words}", data.secret(SUPERUSER)


def _by_url(url: str) -> tuple[str, str]:
    parts = urlsplit(url)
    user, _, host = parts.netloc.rpartition("@")
    bare = parts._replace(netloc=f"{user.split(':')[0]}@{host}" if user else host)
    return f"--dbname={urlunsplit(bare)}", unquote(parts.password or "")


def _run(program: str, connection: str, password: str, *words: str) -> str:
    """Its output. The password goes by the environment: arguments can be read by every account."""
    done = subprocess.run(
        [str(binaries.wheel_programs() / program), connection, *words],
        env={**os.environ, "PGPASSWORD": password, "LC_ALL": "C"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise PartFailed(
            f"{program} ended with exit code {done.returncode}:\n{done.stderr[-2000:]}"
        )
    return done.stdout


def _named(dump: Path) -> dict[str, str]:
    """The files that the rows of a dump name."""
    words = ("--data-only", "--table=blobs", "--file=-")
    return stored_files.named(_run("pg_restore", str(dump), "", *words))


def _pack(data: DataDirectory, dump: Path, target: Path, make_dump: Callable[[], None]) -> set[str]:
    """Files, then the rows, then the files that came meanwhile: whatever a row names existed when
    the rows were read, and is taken before it is deleted or after it came. The names of all."""
    manifest = {
        "format": FORMAT,
        "postgres": POSTGRES_MAJOR,
        "made_at": datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
        "sample": data.read("state.json").get("sample"),
        "sha256": "0" * 64,  # of the rows; known later
    }
    folder = stored_files.folder_of(data)
    packed: set[str] = set()
    descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with open(descriptor, "wb") as file:
        with tarfile.open(fileobj=file, mode="w") as tar:
            head = tarfile.TarInfo(_MANIFEST)
            head.size, head.mode = len(json.dumps(manifest)), 0o600
            tar.addfile(head, io.BytesIO(json.dumps(manifest).encode()))
            _add(tar, folder, packed)
            make_dump()
            tar.add(dump, _DUMP)
            _add(tar, folder, packed)
        manifest["sha256"] = _sha256(dump)
        file.seek(tarfile.BLOCKSIZE)
        file.write(json.dumps(manifest).encode())
        file.flush()
        os.fsync(file.fileno())
    return packed


def _add(tar: tarfile.TarFile, folder: Path, packed: set[str]) -> None:
    for path in stored_files.present(folder):
        if path.name in packed:
            continue
        with contextlib.suppress(FileNotFoundError):  # deleted meanwhile, with its document
            tar.add(path, f"blobs/{path.relative_to(folder).as_posix()}", recursive=False)
            packed.add(path.name)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def restore(data: DataDirectory, file: Path, *, force: bool) -> int:
    """Puts a backup into an empty folder, or with `force` in place of what is there."""
    manifest = _manifest(file)
    with data.held("restore"):
        if data.used and not force:
            raise Refused(
                f"{data.root} holds data already. Name an empty folder with --data-dir, or give "
                "--force: then the backup takes its place."
            )
        work = DataDirectory(data.root / ".restoring")
        shutil.rmtree(work.root, ignore_errors=True)
        try:
            work.create()
            _unpack(file, work, manifest)
            missing = _check_files(file, work)
            asyncio.run(_fill(work))
            write_versions(work)
            work.note(sample=manifest.get("sample"))
            (work.root / _DUMP).unlink()
            data.forget(but=work.root)
            for name in _PARTS:
                if (work.root / name).exists():
                    (work.root / name).rename(data.root / name)
        finally:
            shutil.rmtree(work.root, ignore_errors=True)
    say(f"Restored {file} (made {manifest.get('made_at')}) into {data.root}.")
    if missing:
        _warn(f"{_files(len(missing))} that documents name are not in the backup; texts are.")
    if os.environ.get("REDRAFT_BLOB_URL"):
        _warn(f"The files of documents are in {data.blobs}: move them, or unset REDRAFT_BLOB_URL.")
    return 0


def _check_files(file: Path, work: DataDirectory) -> list[str]:
    """Names of the files that are missing; raises Refused where one is not what was stored."""
    missing, damaged = stored_files.settle(work.blobs, _named(work.root / _DUMP))
    if damaged:
        raise Refused(
            f"{file} is damaged: {_files(len(damaged))} of documents are not what was stored "
            f"({', '.join(damaged[:3])})."
        )
    return missing


@contextlib.contextmanager
def _opened(file: Path) -> Iterator[tarfile.TarFile]:
    try:
        with tarfile.open(file, "r:") as tar:
            yield tar
    except OSError as error:
        raise Refused(f"{file} cannot be read: {error.strerror or error}.") from error
    except tarfile.TarError as error:
        raise Refused(f"{file} is no whole backup of Redraft ({error}).") from error


def _manifest(file: Path) -> dict[str, Any]:
    with _opened(file) as tar:
        try:
            manifest = dict(json.load(_member(tar, _MANIFEST)))
            written, major = int(manifest["format"]), int(manifest["postgres"])
        except (KeyError, ValueError, TypeError, OverflowError) as error:
            raise Refused(f"{file} is no backup of Redraft.") from error
    if written > FORMAT or major > POSTGRES_MAJOR:
        raise Refused(
            f"{file} was made by a newer Redraft (format {written}, Postgres {major}; this one "
            f"reads up to format {FORMAT}, Postgres {POSTGRES_MAJOR}). Use that version."
        )
    return manifest


def _member(tar: tarfile.TarFile, name: str) -> IO[bytes]:
    found = tar.extractfile(name)
    if found is None:
        raise KeyError(name)
    return found


def _unpack(file: Path, work: DataDirectory, manifest: dict[str, Any]) -> None:
    """Only plain files under our own names: a tar from elsewhere can write nowhere else."""
    with _opened(file) as tar:
        for member in tar:
            target = (work.root / member.name).resolve()
            if member.name == _MANIFEST or not member.isfile():
                continue
            if member.name != _DUMP and not target.is_relative_to(work.blobs.resolve()):
                raise Refused(f"{file} is no backup of Redraft (it holds {member.name!r}).")
            target.parent.mkdir(parents=True, exist_ok=True)
            with target.open("wb") as out:
                shutil.copyfileobj(_member(tar, member.name), out)
    dump = work.root / _DUMP
    if not dump.exists() or _sha256(dump) != manifest.get("sha256"):
        raise Refused(f"{file} is damaged: its database is not what was written.")


async def _fill(work: DataDirectory) -> None:
    async with _postgres_alone(work) as server:
        await postgres.prepare_database(server)
        _run(
            "pg_restore",
            *_embedded(work, server.port),
            "--exit-on-error",
            "--single-transaction",
            "--no-password",
            str(work.root / _DUMP),
        )
