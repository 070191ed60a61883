"""`python -m api.texts.extract`: the template of catalogues from the code, each catalogue by it.

Catalogues keep their translations, lose what no page says any more, and are sorted; what is new
in them is empty until somebody translates it. A test holds all of it equal to the code.
"""

from __future__ import annotations

import io
import logging
import re
import string
import sys
from collections.abc import Iterator
from pathlib import Path

from babel.messages.catalog import Catalog, Message
from babel.messages.extract import extract_from_file
from babel.messages.pofile import read_po, write_po

HERE = Path(__file__).parent.parent
TEMPLATE = HERE / "locale" / "messages.pot"
_KEYWORDS = {"N_": None, "text": None, "_": None, "gettext": None, "ngettext": (1, 2)}
_OF_COMMANDS = {"N_": None, "tell": None, "cell": None}
_PERCENT = re.compile(r"%\((\w+)\)s")
_TAG = re.compile(r"</?\w+[^>]*>")


def _sources() -> list[tuple[str, Path]]:
    python = sorted(
        [
            *(HERE / "pages").glob("*.py"),
            HERE / "texts" / "text.py",
            *(HERE / "texts").glob("[cef]*.py"),
        ]
    )
    templates = sorted((HERE / "templates").glob("*.html"))
    commands = sorted((HERE / "cli").glob("*.py"))
    return [("python", path) for path in [*python, *commands]] + [
        ("jinja2.ext:babel_extract", path) for path in templates
    ]


def _template() -> Catalog:
    catalog = Catalog(fuzzy=False)
    for method, path in _sources():
        options = {"encoding": "utf-8", "trim_blocks": "true", "lstrip_blocks": "true"}
        keywords = _OF_COMMANDS if path.parent.name == "cli" else _KEYWORDS
        found = extract_from_file(method, str(path), keywords, options=options)
        for line, message, comments, context in found:
            if message:
                catalog.add(
                    message,
                    locations=[(path.relative_to(HERE).as_posix(), line)],
                    auto_comments=comments,
                    context=context,
                )
    return catalog


def _written(catalog: Catalog) -> str:
    out = io.BytesIO()
    write_po(
        out,
        catalog,
        omit_header=True,
        no_location=True,
        sort_output=True,
        ignore_obsolete=True,
        width=0,
    )
    return out.getvalue().decode()


def extract() -> str:
    """The template of catalogues, without dates, so that equal strings make equal files."""
    return _written(_template())


def catalogues() -> dict[str, Path]:
    """The catalogues there are, by language."""
    found = sorted((HERE / "locale").glob("*/LC_MESSAGES/messages.po"))
    return {path.parent.parent.name: path for path in found}


def refreshed(locale: str) -> str:
    """The catalogue of a language as it has to be for the strings of the code."""
    # A string that has a plural now and had none is said as a warning, and found as missing.
    logging.getLogger("babel").setLevel(logging.ERROR)
    catalog = Catalog(locale=locale, fuzzy=False)
    with catalogues()[locale].open("rb") as file:
        known = read_po(file, locale=locale)
    for message in _template():
        if not message.id:
            continue
        old = known.get(message.id, message.context)
        kept = old is not None and old.pluralizable == message.pluralizable and not old.fuzzy
        string = old.string if old is not None and kept else None
        catalog.add(message.id, string, flags=message.flags, context=message.context)
    return _written(catalog)


def faults(locale: str) -> Iterator[str]:
    """What is wrong with a catalogue: missing, fuzzy, or with other places or marks than the text.

    A merge by union can also leave a text twice; refreshing takes the last one.
    """
    with catalogues()[locale].open("rb") as file:
        catalog = read_po(file, locale=locale)
    for message in catalog:
        if message.id:
            yield from (f"{_first(message)!r}: {fault}" for fault in faults_of(message))


def _first(message: Message) -> str:
    return message.id if isinstance(message.id, str) else message.id[0]


def faults_of(message: Message) -> Iterator[str]:
    if message.fuzzy:
        yield "is fuzzy"
    given = message.string
    forms = list(given) if isinstance(given, list | tuple) else [given or ""]
    if not all(forms):
        yield "is not translated"
        return
    wanted = _marks(message.id if isinstance(message.id, str) else message.id[-1])
    yield from ("has other places or marks" for form in forms if _marks(form) != wanted)


def _marks(text: str) -> list[str]:
    """Named places and tags, which a translation may order anew and not lose."""
    named = _PERCENT.findall(text)
    if not named:
        named = [name for _, name, _, _ in string.Formatter().parse(text) if name]
    return sorted([*named, *_TAG.findall(text)])


def main() -> int:
    TEMPLATE.write_text(extract(), encoding="utf-8")
    for locale, path in catalogues().items():
        path.write_text(refreshed(locale), encoding="utf-8")
        for fault in faults(locale):
            sys.stderr.write(f"{locale}: {fault}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
