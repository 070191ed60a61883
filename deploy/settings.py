"""All settings, read once from the environment and reported all together when wrong.

`OPENAI_*`, `TEMPORAL_*`, `OTEL_*`, proxy and CA variables keep their owners' names and are read by
their owners, except those named here. Durations are seconds.
"""

from __future__ import annotations

import os
import shlex
import typing
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit


class SettingsError(Exception):
    """One or more variables cannot be used; each line names the variable and what to set."""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """One field a variable; `help` says what it does. README's table is held equal by a test."""

    database_url: str = field(metadata={"help": "Postgres, application role"})
    database_owner_url: str = field(
        default="", metadata={"help": "Postgres, owner, for migrate (default: the same)"}
    )
    database_direct_url: str = field(
        default="", metadata={"help": "Postgres past a pooler, for session features"}
    )
    database_pool_size: int = field(default=20, metadata={"help": "connections a process"})
    url: str = field(
        default="http://127.0.0.1:8430", metadata={"help": "where client commands find the API"}
    )
    data_dir: str = field(
        default="",
        metadata={
            "help": "data folder of stack commands (default: `$XDG_DATA_HOME/redraft`, which is "
            "`~/.local/share/redraft`; root: `/var/lib/redraft`)"
        },
    )
    model: str = field(default="", metadata={"help": "model of the first profile `default`"})
    api_host: str = field(default="127.0.0.1", metadata={"help": "address the API binds"})
    api_port: int = field(default=8430, metadata={"help": "port of the API"})
    api_key: str = field(default="", metadata={"help": "key that client commands send"})
    api_hosts: str = field(
        default="", metadata={"help": "further Host names the API answers to, by comma"}
    )
    worker_health_port: int = field(
        default=0, metadata={"help": "port of the worker's /healthz, 0 = off"}
    )
    worker_slots: int = field(default=300, metadata={"help": "rounds a worker runs at once"})
    worker_build_id: str = field(
        default="", metadata={"help": "turns on Temporal worker versioning"}
    )
    worker_id: str = field(default="", metadata={"help": "only for tests: part of the worker's id"})
    kinds_dir: str = field(default="", metadata={"help": "folder with further kinds"})
    templates_dir: str = field(
        default="", metadata={"help": "folder with own templates of minutes, NAME.md"}
    )
    blob_url: str = field(default="", metadata={"help": "folder of recordings, as file:///folder"})
    audio_megabytes: int = field(default=2200, metadata={"help": "largest recording"})
    speech_url: str = field(
        default="", metadata={"help": "set by `up --speech`: the recogniser of this machine"}
    )
    speech_model: str = field(
        default="", metadata={"help": "folder of its model (default: English, from its wheel)"}
    )
    speech_part_seconds: float = field(
        default=300.0, metadata={"help": "a recording is heard in parts of at most so many"}
    )
    temporal_address: str = field(
        default="127.0.0.1:7233",
        metadata={"help": "Temporal frontend", "env": "TEMPORAL_ADDRESS"},
    )
    temporal_namespace: str = field(
        default="redraft", metadata={"help": "Temporal namespace", "env": "TEMPORAL_NAMESPACE"}
    )
    temporal_web_url: str = field(default="", metadata={"help": "Temporal Web, for links"})
    openai_base_url: str = field(
        default="",
        metadata={"help": "model server of the first profile", "env": "OPENAI_BASE_URL"},
    )
    offline_model: bool = field(
        default=False, metadata={"help": "set by `up`: the offline model answers"}
    )
    offline_tokens_per_second: float = field(
        default=30.0, metadata={"help": "speed of the offline model, 0 = at once"}
    )
    heartbeat_timeout: float = field(default=30.0, metadata={"help": "of rounds and drafts"})
    round_timeout: float = field(default=7200.0, metadata={"help": "longest attempt of a round"})
    rounds_within: float = field(
        default=20.0,
        metadata={"help": "seconds in which an activity begins further rounds, 0 = one round each"},
    )
    transcribe_timeout: float = field(
        default=43200.0, metadata={"help": "longest attempt of a transcription"}
    )
    parking_seconds: float = field(
        default=3600.0, metadata={"help": "a workflow waits this long for a person, then parks"}
    )
    provider_patience: float = field(
        default=3600.0, metadata={"help": "provider errors in a row for this long end the run"}
    )
    connect_timeout: float = field(default=10.0, metadata={"help": "to reach a model server"})
    first_byte_timeout: float = field(default=120.0, metadata={"help": "until the first token"})
    silence_timeout: float = field(default=60.0, metadata={"help": "between two tokens"})
    call_timeout: float = field(default=1200.0, metadata={"help": "one whole model call"})
    shutdown_grace: float = field(
        default=5.0, metadata={"help": "running calls may finish this long after SIGTERM"}
    )
    sweep_seconds: float = field(default=60.0, metadata={"help": "between two sweeps"})
    body_retention_days: float = field(
        default=30.0, metadata={"help": "replies and recipes of prompts are kept, 0 = none"}
    )
    log_format: str = field(default="text", metadata={"help": "text or json"})
    log_level: str = field(default="INFO", metadata={"help": "DEBUG, INFO, WARNING, ERROR"})


def variable(name: str, metadata: Mapping[str, Any]) -> str:
    """The environment variable of a field."""
    return str(metadata.get("env", f"REDRAFT_{name.upper()}"))


def _parse(value: str, kind: type) -> Any:
    if kind is bool:
        if value.lower() not in ("0", "1", "true", "false", "yes", "no", "on", "off", ""):
            raise ValueError("is neither 1 nor 0")
        return value.lower() in ("1", "true", "yes", "on")
    if kind is int or kind is float:
        number = kind(value)
        if not 0 <= number < 1e9:
            raise ValueError("must not be negative")
        return number
    return value


def _problems(values: Mapping[str, Any]) -> list[str]:
    found = []
    for name in ("database_url", "database_owner_url", "database_direct_url"):
        url = values.get(name, "")
        if url and urlsplit(url).scheme not in ("postgresql", "postgres"):
            found.append(f"REDRAFT_{name.upper()}: must begin with postgresql://")
    if 0 < values.get("parking_seconds", 3600) < 5:
        found.append("REDRAFT_PARKING_SECONDS: must be at least 5")
    if not 1 <= values.get("speech_part_seconds", 300) <= 300:
        found.append("REDRAFT_SPEECH_PART_SECONDS: must be 1 to 300")
    if values.get("log_format", "text") not in ("text", "json"):
        found.append("REDRAFT_LOG_FORMAT: must be text or json")
    if str(values.get("log_level", "INFO")).upper() not in ("DEBUG", "INFO", "WARNING", "ERROR"):
        found.append("REDRAFT_LOG_LEVEL: must be DEBUG, INFO, WARNING or ERROR")
    return found


def load(environment: Mapping[str, str] | None = None, *, need_database: bool = True) -> Settings:
    """Raises SettingsError with one line for every variable that cannot be used."""
    given = os.environ if environment is None else environment
    values: dict[str, Any] = {}
    problems: list[str] = []
    kinds = typing.get_type_hints(Settings)
    for entry in fields(Settings):
        name = variable(entry.name, entry.metadata)
        raw = given.get(name)
        if raw is None or (raw == "" and kinds[entry.name] is not str):
            continue
        try:
            values[entry.name] = _parse(raw.strip(), kinds[entry.name])
        except ValueError as error:
            problems.append(f"{name}: {raw!r} cannot be used ({error})")
    if not values.get("database_url"):
        if need_database:
            problems.append(
                "REDRAFT_DATABASE_URL: not set; give a Postgres address, or start `./redraft up`"
            )
        values["database_url"] = ""
    problems += _problems(values)
    if problems:
        raise SettingsError("settings:\n  " + "\n  ".join(problems))
    values["database_owner_url"] = values.get("database_owner_url") or values["database_url"]
    values["database_direct_url"] = values.get("database_direct_url") or values["database_url"]
    return Settings(**values)


def default_root(environment: Mapping[str, str]) -> Path:
    """Where `./redraft up` keeps its data without `--data-dir`: REDRAFT_DATA_DIR, else its own."""
    if named := environment.get("REDRAFT_DATA_DIR", ""):
        return Path(named).expanduser()
    given = environment.get("XDG_DATA_HOME", "")
    if os.path.isabs(given):
        return Path(given) / "redraft"
    if os.geteuid() == 0:
        return Path("/var/lib/redraft")
    return Path(environment.get("HOME") or Path.home()) / ".local" / "share" / "redraft"


def stack_variables(root: Path) -> dict[str, str]:
    """What `./redraft up` wrote into `root` for those who join it; empty where there is none."""
    try:
        lines = (root / "env").read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return {}
    pairs = (line.split("=", 1) for line in lines if "=" in line and line[0] != "#")
    return {name: "".join(shlex.split(value)) for name, value in pairs}
