"""What is shared between the calls of a process: connections, keys, and what servers refuse."""

from __future__ import annotations

import asyncio
import ipaddress
import ssl
from collections.abc import Mapping

import httpx2

from activities.failures import BadAddressError, KeyNotSetError
from activities.model.formats import Manner, manner_of
from activities.model.profile import Profile
from deploy.settings import Settings
from workflows.vocabulary import SPEECH_KEY


class Servers:
    """Connections by scheme, manners by server and model. Closed once, at the end."""

    def __init__(self, settings: Settings, environment: Mapping[str, str]) -> None:
        self.settings = settings
        self._environment = environment
        self._manners: dict[tuple[str, str], Manner] = {}
        self._pools: dict[tuple[str, bool], httpx2.AsyncClient] = {}
        self._opening = asyncio.Lock()
        self._default_base = ""
        self.without_times: set[tuple[str, str]] = set()
        """Address and model of recognisers that refused to tell times."""

    async def close(self) -> None:
        pools, self._pools = self._pools, {}
        for pool in pools.values():
            await pool.aclose()

    def key(self, profile: Profile) -> str:
        """Raises KeyNotSetError."""
        key = self._variable(profile.key_env)
        if not key or not key.isascii() or not key.isprintable():
            raise KeyNotSetError(profile.key_env)
        return key

    async def endpoint(self, profile: Profile) -> httpx2.URL:
        """Where chat completions are asked for; a query (api-version) of the base URL stays. The
        key of the recogniser here says that it is meant.

        Raises BadAddressError.
        """
        here = self.settings.speech_url if self.hears_here(profile) else ""
        known = profile.base_url or here or self._variable("OPENAI_BASE_URL")
        base = known or await self._default()
        try:
            url = httpx2.URL(base)
        except httpx2.InvalidURL:
            raise BadAddressError from None
        if url.scheme not in ("http", "https") or not url.host or url.userinfo:
            raise BadAddressError  # a password in an address would stand in rows
        return url.copy_with(path=url.path.rstrip("/") + "/chat/completions")

    def hears_here(self, profile: Profile) -> bool:
        """Whether its calls go to the recogniser of this machine."""
        mine = profile.key_env == SPEECH_KEY and not profile.base_url
        return mine and bool(self.settings.speech_url)

    def headers(self, key: str, url: httpx2.URL) -> dict[str, str]:
        headers = {
            "Authorization": f"Bearer {key}",
            "Content-Type": "application/json",
            "Accept": "text/event-stream",
            "Accept-Encoding": "identity",
            "User-Agent": "redraft",
        }
        if "api-version" in url.params:
            headers["api-key"] = key
        for header, variable in (
            ("OpenAI-Organization", "OPENAI_ORG_ID"),
            ("OpenAI-Project", "OPENAI_PROJECT_ID"),
        ):
            if value := self._variable(variable):
                headers[header] = value
        return headers

    def manner(self, url: httpx2.URL, profile: Profile) -> Manner:
        """What this process saw work, else what the rows of others say."""
        known = self._manners.get((str(url), profile.model))
        return known or manner_of(profile.learned.manner)

    def remember(self, url: httpx2.URL, model: str, manner: Manner) -> None:
        """A request in that manner was taken. What a mere refusal suggests is not remembered: its
        words may be those of a document, and every later call would be asked the worse way."""
        self._manners[(str(url), model)] = manner

    async def pool(self, url: httpx2.URL) -> httpx2.AsyncClient:
        """The connections of a scheme, opened on first use; those to this machine are apart."""
        kind = url.scheme, _is_near(url.host)
        async with self._opening:
            if kind not in self._pools:
                self._pools[kind] = await self._open(*kind)
            return self._pools[kind]

    async def _open(self, scheme: str, near: bool) -> httpx2.AsyncClient:
        """Certificates take 0.1 s to read: off the loop, and only where they are needed."""
        if scheme == "https":
            trust = await asyncio.to_thread(httpx2.create_ssl_context)
        else:
            trust = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # trusts nobody
        return httpx2.AsyncClient(
            verify=trust,
            trust_env=not near,  # a proxy of the environment cannot reach what is here
            timeout=httpx2.Timeout(None, connect=self.settings.connect_timeout),
            # A kept connection that the server closed meanwhile costs a failed call; opening one
            # is nothing beside seconds of tokens.
            limits=httpx2.Limits(max_connections=None, max_keepalive_connections=0),
        )

    async def _default(self) -> str:
        if not self._default_base:
            self._default_base = await asyncio.to_thread(_library_default)
        return self._default_base

    def _variable(self, name: str) -> str:
        return self._environment.get(name, "").strip()


def _is_near(host: str) -> bool:
    """Whether the address is this machine's own loopback."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def _library_default() -> str:
    """The provider's own address, as its library knows it; imported only for that."""
    import openai

    return str(openai.OpenAI(api_key="none", base_url=None).base_url)
