"""Redraft's own processes as parts of the stack, and the variables they find the rest by."""

from __future__ import annotations

import shlex
import signal
import sys
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from deploy.local import ports
from deploy.local.ask import expect_ok, health_of
from deploy.local.data import DataDirectory
from deploy.local.goodbye import say_goodbye_for
from deploy.local.options import ROOT, Options
from deploy.local.postgres import APPLICATION, OWNER, Postgres
from deploy.local.processes import Command
from deploy.local.supervise import Part
from deploy.local.temporal import Temporal

_FOLDERS = ("REDRAFT_KINDS_DIR", "REDRAFT_TEMPLATES_DIR")
"""Of the caller's own; nothing in them is made by the stack."""


@dataclass(frozen=True, kw_only=True)
class Wiring:
    """Ports and addresses of one stack. None stands for a service that is not ours."""

    options: Options
    data: DataDirectory
    postgres: Postgres | None
    temporal: Temporal | None
    api_port: int
    model_port: int
    speech_port: int
    worker_ports: tuple[int, ...]

    @property
    def database_url(self) -> str:
        return self.postgres.url(APPLICATION) if self.postgres else self.options.database_url

    @property
    def owner_url(self) -> str:
        """Empty where only one address was given, which then serves both."""
        return self.postgres.url(OWNER) if self.postgres else self.options.database_owner_url

    @property
    def local_host(self) -> str:
        """An address of the API that this machine can use."""
        host = self.options.host
        return {"0.0.0.0": "127.0.0.1", "::": "::1", "": "127.0.0.1"}.get(host, host)

    @property
    def url(self) -> str:
        host = self.local_host
        return f"http://{f'[{host}]' if ':' in host else host}:{self.api_port}"

    @property
    def temporal_address(self) -> str:
        """HOST:PORT of the gRPC frontend."""
        return self.temporal.address if self.temporal else self.options.temporal_address

    @property
    def web_url(self) -> str:
        given = self.options.environment.get("REDRAFT_TEMPORAL_WEB_URL", "")
        return self.temporal.web_url if self.temporal else given

    @property
    def api_key(self) -> str:
        """Needed as soon as other machines can reach the API; made here where none was given."""
        given = self.options.environment.get("REDRAFT_API_KEY", "")
        return given or ("" if self.options.loopback else self.data.secret("api_key"))

    def joining(self) -> dict[str, str]:
        """With these, processes and client commands join the stack; never a key to a model."""
        options = self.options
        variables = {
            "REDRAFT_DATA_DIR": str(self.data.root),
            "REDRAFT_URL": self.url,
            "REDRAFT_DATABASE_URL": self.database_url,
            "REDRAFT_BLOB_URL": options.environment.get("REDRAFT_BLOB_URL")
            or self.data.blobs.as_uri(),
            "REDRAFT_MODEL": options.environment.get("REDRAFT_MODEL", ""),
            "REDRAFT_TEMPORAL_WEB_URL": self.web_url,
            "TEMPORAL_ADDRESS": self.temporal_address,
            "TEMPORAL_NAMESPACE": options.temporal_namespace,
            "OPENAI_BASE_URL": options.openai_base_url,
            "REDRAFT_API_KEY": self.api_key,
        }
        if options.offline_model:
            variables |= {
                "REDRAFT_MODEL": "offline",
                "REDRAFT_OFFLINE_MODEL": "1",
                "OPENAI_BASE_URL": f"http://127.0.0.1:{self.model_port}/v1",
                "OPENAI_API_KEY": "offline",
            }
        if options.speech:
            variables |= {
                "REDRAFT_SPEECH_URL": f"http://127.0.0.1:{self.speech_port}/v1",
                "REDRAFT_SPEECH_MODEL": options.environment.get("REDRAFT_SPEECH_MODEL", ""),
                "SPEECH_API_KEY": "here",
            }
        for name in _FOLDERS:  # from where `up` was called; a joined process stands elsewhere
            if given := options.environment.get(name):
                variables[name] = str(Path(given).expanduser().absolute())
        if not options.api:
            variables |= self._api_address()
        return {name: value for name, value in variables.items() if value}

    def made_here(self) -> dict[str, str]:
        """Those of `joining` that nobody gave: a later start may choose them anew."""
        options = self.options
        given = {options.database_url, options.temporal_address}
        return {
            name: value
            for name, value in self.joining().items()
            if options.environment.get(name) != value
            and value not in given
            and name not in _FOLDERS
        }

    def _api_address(self) -> dict[str, str]:
        return {"REDRAFT_API_HOST": self.options.host, "REDRAFT_API_PORT": str(self.api_port)}

    def ports_to_keep(self) -> dict[str, int]:
        """Of services that links and joined terminals name; the API's is a matter of `--port`."""
        found = {"model": self.model_port, "speech": self.speech_port}
        if self.postgres:
            found["postgres"] = self.postgres.port
        if engine := self.temporal:
            found |= {"temporal": engine.port, "temporal_web": engine.web_port}
            found |= {"temporal_http": engine.http_port, "temporal_metrics": engine.metrics_port}
        return found

    def environment_text(self) -> str:
        """The lines of `DIR/env`: readable by a shell and by a split at the first `=`."""
        return "".join(f"{key}={shlex.quote(value)}\n" for key, value in self.joining().items())

    def python(self, module: str, log: str, *words: str, **extra: str) -> Command:
        """One of our own modules. Only migrations get the owner's address of the database."""
        inherited = {k: v for k, v in self.options.environment.items() if not self._foreign(k)}
        return Command(
            argv=(sys.executable, "-P", "-m", module, *words),
            environment={
                **inherited,
                **self.joining(),
                **extra,
                "PYTHONPATH": str(ROOT),
                "PYTHONUNBUFFERED": "1",
            },
            directory=ROOT,
            log=self.data.logs / f"{log}.log",
        )

    def _foreign(self, variable: str) -> bool:
        """Of the caller, but about services that this stack has of its own, or not for children."""
        if variable in ("REDRAFT_DATABASE_OWNER_URL", "REDRAFT_WORKER_HEALTH_PORT"):
            return True
        if variable == "REDRAFT_SPEECH_URL":
            return not self.options.speech
        if variable == "REDRAFT_DATABASE_DIRECT_URL":
            return self.postgres is not None
        return variable.startswith("TEMPORAL_") and self.temporal is not None

    def migrate(self) -> Command:
        """Without an owner's address the variable stays away: advice names what is really set."""
        own = {"REDRAFT_DATABASE_OWNER_URL": self.owner_url} if self.owner_url else {}
        return self.python("deploy.migrations", "migrate", **own)

    def model(self) -> Part:
        words = ("--port", str(self.model_port))
        return Part(
            name="Offline model",
            command=lambda: self.python("deploy.offline_model", "model", *words),
            check=lambda: expect_ok(self.model_port, health_of("Offline model")),
            stop_signals=((signal.SIGTERM, 1.0),),
        )

    def speech(self) -> Part:
        words = ["--port", str(self.speech_port)]
        if folder := self.options.environment.get("REDRAFT_SPEECH_MODEL", ""):
            words += ["--model", folder]
        return Part(
            name="Speech recogniser",
            command=lambda: self.python("deploy.recogniser", "speech", *words),
            check=lambda: expect_ok(self.speech_port, health_of("Speech recogniser")),
            stop_signals=((signal.SIGTERM, 2.0),),
        )

    def api(self) -> Part:
        command = self.python("api", "api", **self._api_address())
        return Part(
            name="API",
            command=lambda: command,
            check=lambda: expect_ok(self.api_port, "/healthz", self.local_host),
            stop_signals=((signal.SIGTERM, 7.0),),
        )

    def workers(self) -> list[Part]:
        return [self._worker(number, port) for number, port in enumerate(self.worker_ports, 1)]

    def _worker(self, number: int, port: int) -> Part:
        command = self.python(
            "worker",
            f"worker-{number}" if len(self.worker_ports) > 1 else "worker",
            REDRAFT_WORKER_HEALTH_PORT=str(port),
        )
        return Part(
            name="Worker" if len(self.worker_ports) == 1 else f"Worker {number}",
            command=lambda: command,
            check=lambda: expect_ok(port, "/healthz"),
            reaped=self._goodbye(),
            stop_signals=((signal.SIGTERM, 7.5),),
        )

    def _goodbye(self) -> Callable[[int, float], Awaitable[None]]:
        async def reaped(pid: int, began: float) -> None:
            await say_goodbye_for(self.database_url, pid, began)

        return reaped


def choose(
    options: Options,
    data: DataDirectory,
    chosen: ports.Ports,
    postgres: Postgres | None,
    temporal: Temporal | None,
    *,
    kept: Mapping[str, int],
    api_port: int | None,
) -> Wiring:
    """Takes the ports of our own processes; `kept` holds those of the last start, `api_port` is
    taken already where one was asked for."""
    if api_port is None:
        api_port = chosen.next_free(ports.API, options.host)
    return Wiring(
        options=options,
        data=data,
        postgres=postgres,
        temporal=temporal,
        api_port=api_port,
        model_port=chosen.next_free(ports.MODEL, kept=kept.get("model")),
        speech_port=chosen.next_free(ports.SPEECH, kept=kept.get("speech")),
        worker_ports=tuple(chosen.next_free(ports.WORKER_HEALTH) for _ in range(options.workers)),
    )
