"""Which of the languages that exist a reader gets: from a tag, a browser's list, an environment."""

from __future__ import annotations

from collections.abc import Mapping

from api.texts import text

NAMES = {"en": "English", "zh_Hans": "简体中文"}
"""Each language in its own words, for the switch."""


def match(tag: str) -> str | None:
    """The catalogue of a tag such as `zh-Hant-HK`, `zh_CN.UTF-8`, `en-GB`; None when there is none.

    All of Chinese gets the one catalogue there is: a reader of the other script reads it better
    than English.
    """
    primary = _primary(tag)
    return next((name for name in text.available() if _primary(name) == primary), None)


def _primary(tag: str) -> str:
    plain = tag.strip().partition(".")[0].partition("@")[0]
    return plain.replace("_", "-").partition("-")[0].lower()


def accepted(header: str) -> str:
    """The best of an Accept-Language header; what cannot be read in it is passed over."""
    best, weight = text.DEFAULT, 0.0
    for entry in header[:1000].split(","):
        tag, *parameters = entry.split(";")
        found = text.DEFAULT if tag.strip() == "*" else match(tag)
        asked = _weight(parameters)
        if found is not None and asked > weight:
            best, weight = found, asked
    return best


def _weight(parameters: list[str]) -> float:
    for parameter in parameters:
        name, _, value = parameter.partition("=")
        if name.strip().lower() == "q":
            try:
                given = float(value)
            except ValueError:
                return 0.0
            return given if 0 <= given <= 1 else 0.0
    return 1.0


def of_environment(environ: Mapping[str, str]) -> str:
    """The language of a terminal: LC_ALL, LC_MESSAGES, LANG, the first that is set."""
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        if environ.get(name):
            return match(environ[name]) or text.DEFAULT
    return text.DEFAULT
