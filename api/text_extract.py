"""`python -m api.text_extract`: writes `locale/messages.pot`, every string of pages and sentences.

A test holds the file equal to the code, so no string can pass the catalogue by unnoticed.
"""

from __future__ import annotations

import io
import sys
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.extract import extract_from_file
from babel.messages.pofile import write_po

HERE = Path(__file__).parent
TEMPLATE = HERE / "locale" / "messages.pot"
_KEYWORDS = {"N_": None, "text": None, "_": None, "gettext": None, "ngettext": (1, 2)}


def _sources() -> list[tuple[str, Path]]:
    python = sorted([*(HERE / "pages").glob("*.py"), HERE / "text.py", *HERE.glob("text_[cf]*.py")])
    templates = sorted((HERE / "templates").glob("*.html"))
    return [("python", path) for path in python] + [
        ("jinja2.ext:babel_extract", path) for path in templates
    ]


def extract() -> str:
    """The template of catalogues, without dates, so that equal strings make equal files."""
    catalog = Catalog(fuzzy=False)
    for method, path in _sources():
        options = {"encoding": "utf-8", "trim_blocks": "true", "lstrip_blocks": "true"}
        found = extract_from_file(method, str(path), _KEYWORDS, options=options)
        for line, message, comments, context in found:
            if message:
                catalog.add(
                    message,
                    locations=[(path.relative_to(HERE).as_posix(), line)],
                    auto_comments=comments,
                    context=context,
                )
    out = io.BytesIO()
    write_po(out, catalog, omit_header=True, no_location=True, sort_output=True, width=0)
    return out.getvalue().decode()


def main() -> int:
    TEMPLATE.write_text(extract(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
