"""What `up` was asked for: flags first, then the environment, then defaults."""

from __future__ import annotations

import importlib.util
import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from deploy.local.errors import UsageError

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, kw_only=True)
class Options:
    """`port` None: the default one or the next free. Empty addresses: embedded services."""

    data: Path
    host: str = "127.0.0.1"
    port: int | None = None
    workers: int = 1
    api: bool = True
    sample: bool = True
    database_url: str = ""
    database_owner_url: str = ""
    temporal_address: str = ""
    temporal_namespace: str = "redraft"
    openai_base_url: str = ""
    openai_api_key: bool = False
    speech: bool = False
    environment: Mapping[str, str] = field(default_factory=dict)

    @property
    def loopback(self) -> bool:
        """Whether only this machine reaches the pages."""
        try:
            return self.host == "localhost" or ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False

    @property
    def offline_model(self) -> bool:
        return not self.openai_base_url and not self.openai_api_key

    @property
    def model_named(self) -> str:
        """Who answers, for people: never the key."""
        if self.offline_model:
            return "the offline model (rules, no language model)"
        name = self.environment.get("REDRAFT_MODEL") or "the profile's model"
        host = urlsplit(self.openai_base_url).netloc.rpartition("@")[2] or "api.openai.com"
        return f"{name} at {host}"

    @property
    def speech_named(self) -> str:
        """Who hears recordings, for people."""
        folder = self.environment.get("REDRAFT_SPEECH_MODEL", "")
        return f"the model in {folder}" if folder else "English, recognised on this machine"

    def checked(self) -> Options:
        """Raises UsageError for what cannot be meant."""
        if self.workers < 0 or self.workers > 64:
            raise UsageError(f"--workers {self.workers}: give 0 to 64")
        if self.port is not None and not 1 <= self.port <= 65535:
            raise UsageError(f"--port {self.port}: give 1 to 65535")
        url = self.database_url
        if url and urlsplit(url).scheme not in ("postgresql", "postgres"):
            raise UsageError("--database-url: must begin with postgresql://")
        address = self.temporal_address
        if address and not address.rpartition(":")[2].isdigit():
            raise UsageError(f"--temporal-address {address}: give HOST:PORT")
        if self.speech and importlib.util.find_spec("faster_whisper") is None:
            raise UsageError(
                "--speech: its packages are not installed; ./redraft up --speech installs them, "
                "or: uv sync --extra speech"
            )
        return self
