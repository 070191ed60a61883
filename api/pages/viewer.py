"""Who looks at a page: language, theme, time zone, from the address, cookies and headers.

Language: `?lang=` and the switch, remembered in a cookie; then Accept-Language; then English.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, tzinfo
from functools import lru_cache
from typing import Literal
from urllib.parse import parse_qsl, urlencode, urlsplit
from zoneinfo import ZoneInfo

from fastapi import Request
from starlette.responses import Response

from api.texts import languages

THEMES = ("system", "light", "dark")
LANGUAGE, THEME, ZONE = "redraft_language", "redraft_theme", "redraft_zone"
"""Names of cookies; `preferences.js` and `times.js` know the last two."""
_YEAR = 365 * 24 * 3600
_ZONE = re.compile(r"[A-Za-z_]+(/[A-Za-z0-9_+-]+){0,2}")
_PATH = re.compile(r"/(?![/\\])[^\\\s]*")


@dataclass(frozen=True, kw_only=True)
class Viewer:
    """`back` is the address of this page, for forms that come back to it."""

    locale: str
    theme: str
    zone_name: str
    zone: tzinfo
    back: str


def viewer_of(request: Request) -> Viewer:
    """Read once a request, from the request alone."""
    cookies = request.cookies
    theme = cookies.get(THEME, "system")
    name, zone = _zone(cookies.get(ZONE, ""))
    return Viewer(
        locale=_locale(request.query_params, cookies, request.headers.get("accept-language", "")),
        theme=theme if theme in THEMES else "system",
        zone_name=name,
        zone=zone,
        back=_back(request),
    )


def _locale(query: Mapping[str, str], cookies: Mapping[str, str], accepted: str) -> str:
    asked = languages.match(query.get("lang", "")) or languages.match(cookies.get(LANGUAGE, ""))
    return asked or languages.accepted(accepted)


@lru_cache(maxsize=256)
def _zone(name: str) -> tuple[str, tzinfo]:
    """UTC for a name that this machine does not know; a cookie can hold anything."""
    if _ZONE.fullmatch(name):
        try:
            return name, ZoneInfo(name)
        except (ValueError, KeyError, OSError):
            pass
    return "UTC", UTC


def _back(request: Request) -> str:
    """This page; after a form that was refused, the page that the form stood on."""
    url = urlsplit(str(request.url))
    if request.method != "GET":
        url = urlsplit(request.headers.get("referer", ""))
    query = [pair for pair in parse_qsl(url.query, keep_blank_values=True) if pair[0] != "lang"]
    return local_path(f"{url.path}?{urlencode(query)}" if query else url.path)


def local_path(path: str) -> str:
    """The path if it stays on this site, else the first page: a redirect must not lead away."""
    return path if _PATH.fullmatch(path) else "/"


def remember(request: Request, response: Response, name: str, value: str) -> None:
    """Sets one of the cookies for a year. Scripts may read them: none is a secret."""
    secure = request.url.scheme == "https"
    same_site: Literal["lax"] = "lax"
    response.set_cookie(name, value, max_age=_YEAR, samesite=same_site, secure=secure)
