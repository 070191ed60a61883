"""Which account Postgres runs under when the stack is root, and what that account can reach.

Postgres refuses root. Nothing here creates an account or changes the mode of a folder that is not
ours: a parent folder opened for Postgres would be open for everybody.
"""

from __future__ import annotations

import os
import pwd
from dataclasses import dataclass
from pathlib import Path

from deploy.local.errors import Refused

_CANDIDATES = ("postgres", "nobody")


@dataclass(frozen=True, kw_only=True)
class Account:
    """An account with a passwd entry (initdb insists on one)."""

    name: str
    uid: int
    gid: int


def for_postgres(cluster: Path) -> Account | None:
    """None when we are no root; else the owner of the cluster, or the first known account."""
    if os.geteuid() != 0:
        return None
    if cluster.exists() and (uid := cluster.stat().st_uid) != 0:
        try:
            return _account(pwd.getpwuid(uid))
        except KeyError:
            raise Refused(
                f"{cluster} belongs to account number {uid}, which this machine does not know. "
                f"Give the files to a known account: chown -R nobody {cluster}"
            ) from None
    for name in _CANDIDATES:
        try:
            return _account(pwd.getpwnam(name))
        except KeyError:
            continue
    raise Refused(
        "Postgres does not run as root, and this machine has neither an account `postgres` nor "
        "`nobody`. Make one (useradd --system postgres), or give --database-url."
    )


def _account(entry: pwd.struct_passwd) -> Account:
    return Account(name=entry.pw_name, uid=entry.pw_uid, gid=entry.pw_gid)


def can_reach(account: Account | None, path: Path, mode: int) -> bool:
    """Whether the account may use the path (`os.R_OK`, `os.X_OK`), asked of the kernel itself."""
    if account is None:
        return os.access(path, mode)
    child = os.fork()
    if child == 0:
        answer = 1
        try:
            os.setgroups([])
            os.setgid(account.gid)
            os.setuid(account.uid)
            answer = 0 if os.access(path, mode) else 1
        finally:
            os._exit(answer)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
