"""The language of the terminal: `--lang`, else LC_ALL, LC_MESSAGES, LANG.

Events are told in the sentences of the pages. For other codes English has the command line's own
short sentences; another language those of the pages. JSON, tables in a pipe and codes stay as they
are.
"""

from __future__ import annotations

import string
from collections.abc import Mapping
from typing import Any

_ENGLISH = "en"
_chosen = {"locale": _ENGLISH}


class NoSuchLanguage(Exception):
    """`--lang` names a language that there is not."""


def use(given: str | None, environ: Mapping[str, str]) -> None:
    """Once a command; raises NoSuchLanguage."""
    asked = given or next(
        (environ[name] for name in ("LC_ALL", "LC_MESSAGES", "LANG") if environ.get(name)), ""
    )
    _chosen["locale"] = _ENGLISH
    if asked[:2].lower() in ("", _ENGLISH, "c", "c.", "po"):
        return
    # The catalogues take a tenth of a second to read: only who wants one waits for it.
    from api.texts import languages

    found = languages.match(asked)
    if found is None and given:
        raise NoSuchLanguage(tell("--lang: there are {names}", names=", ".join(languages.NAMES)))
    _chosen["locale"] = found or _ENGLISH


def sentence(family: str, code: str, params: Mapping[str, Any] | None = None) -> str | None:
    """The sentence of a code in the chosen language; None in English, or when it has none."""
    if _chosen["locale"] == _ENGLISH:
        return None
    from api.texts import codes, text

    words = text.catalogue(_chosen["locale"])
    if code not in codes.WORDINGS[family]:
        return None
    known = dict(params or {})
    if isinstance(name := known.get("name"), str):
        known["name"] = words.sentence("step", name)
    if isinstance(severity := known.get("severity"), str):
        known["severity"] = words.sentence("severity", severity)
    return words.sentence(family, code, known)


def field_sentence(error: Mapping[str, Any], params: Mapping[str, Any]) -> str:
    """What is wrong with a field: in English as the service says it."""
    detail = str(error.get("detail", ""))
    if _chosen["locale"] == _ENGLISH:
        return detail
    from api.texts import text

    told = text.catalogue(_chosen["locale"]).told(detail)
    return sentence("field", str(error.get("code")), {**params, **error, "detail": told}) or told


def page_sentence(family: str, code: str, params: Mapping[str, Any]) -> str | None:
    """The sentence of the pages for a code, in English too; None when there is none."""
    if _chosen["locale"] != _ENGLISH:
        return sentence(family, code, params)
    from api.texts import codes

    known = {key: value for key, value in params.items() if value is not None}
    for wording in codes.WORDINGS[family].get(code, ()):
        if {name for _, name, _, _ in string.Formatter().parse(wording) if name} <= known.keys():
            return wording.format_map(known)
    return None


def tell(msgid: str, /, **facts: object) -> str:
    """One of the command line's own sentences in the chosen language, its places filled."""
    return word(msgid).format_map(facts)


def word(msgid: str) -> str:
    """The same with its places."""
    if _chosen["locale"] == _ENGLISH:
        return msgid
    from api.texts import text

    return text.catalogue(_chosen["locale"]).text(msgid)


def problem_of(issue: Mapping[str, Any]) -> str:
    """What a rule found, in the chosen language; what a model or a person said, as it is."""
    problem = str(issue.get("problem") or "")
    if not str(issue.get("raised_by")).startswith("verifier:"):
        return problem
    if _chosen["locale"] == _ENGLISH and problem.isascii():
        return problem
    from api.texts import text

    return text.catalogue(_chosen["locale"]).told(problem)


def head(column: str) -> str:
    """The head of a column of a table: its English name, or its word in the chosen language."""
    if _chosen["locale"] == _ENGLISH:
        return column
    from api.texts import cli, text

    word = cli.HEADS.get(column)
    return column if word is None else text.catalogue(_chosen["locale"]).text(word)


def next_line(act: str) -> str:
    """What comes next, as a line."""
    return tell("next: {act}", act=act)
