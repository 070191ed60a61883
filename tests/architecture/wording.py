"""What must not stand in any tracked file: places of one machine, hosts of packages, loose ends."""

from __future__ import annotations

import re

from tests.architecture.sources import ROOT, tracked

# Written in pieces, so that this file does not find itself.
_HOSTS = ("python" + "hosted", "py" + "pi.org", "npm" + "js.org", "deb.deb" + "ian.org")
_PLACES = ("/wo" + "rk/", "/ro" + "ot/", "/ho" + "me/[a-z]+/", "/Use" + "rs/[a-z]+/")
_RULES = (
    (re.compile("|".join(re.escape(host) for host in _HOSTS), re.IGNORECASE), "a package host"),
    (re.compile(rf"(?<![\w.])(?:{'|'.join(_PLACES)})"), "a path of one machine"),
    (re.compile(r"#\s*(TO" + r"DO|FIX" + r"ME|XXX)\b(?!.*#\d)"), "a loose end without its issue"),
)
_LOCK = "uv.lock"
"""Names the public index, as every lock does; which one is checked with the lock."""
_BINARY = (".png", ".ico", ".woff2", ".docx", ".wav", ".ogg", ".gz")


def problems() -> list[str]:
    found = []
    for name in tracked():
        if name == _LOCK or name.endswith(_BINARY) or name.startswith("tests/data/"):
            continue
        try:
            lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
        except UnicodeDecodeError:
            found.append(f"{name}: is no UTF-8 text")
            continue
        for number, line in enumerate(lines, 1):
            found += (f"{name}:{number}: {what}" for rule, what in _RULES if rule.search(line))
    return found
