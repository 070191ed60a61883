"""A revision as a file: what every kind has (md, docx, html), and what a kind brings itself.

Model text is hostile here too: no raw HTML, no picture, no link but to the web leaves in a file.
"""

from __future__ import annotations

import html
from collections.abc import Mapping

from api.files import exports_docx
from api.markdown import document_html
from workflows.exporting import Exportable, Exported, Exporter, exporters_of

DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
_STYLE = (
    "body{font-family:system-ui,sans-serif;line-height:1.5;max-width:46rem;margin:2rem auto;"
    "padding:0 1rem}table{border-collapse:collapse}th,td{border:1px solid #888;padding:.2rem .5rem;"
    "text-align:left}code,pre{font-family:ui-monospace,monospace}pre{overflow-x:auto}"
    "blockquote{border-left:3px solid #888;margin-left:0;padding-left:1rem}"
)
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def _markdown(given: Exportable) -> Exported:
    return Exported(content=given.body.encode(), media_type="text/markdown; charset=utf-8")


def _html(given: Exportable) -> Exported:
    """One page that loads nothing; the title is that of the document."""
    language = f' lang="{html.escape(given.language)}"' if given.language else ""
    page = (
        f'<!doctype html>\n<html{language}>\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        f"<title>{html.escape(given.title)}</title>\n<style>{_STYLE}</style>\n</head>\n"
        f"<body>\n{document_html(given.body)}</body>\n</html>\n"
    )
    return Exported(content=page.encode(), media_type="text/html; charset=utf-8")


def _docx(given: Exportable) -> Exported:
    return Exported(content=exports_docx.document(given), media_type=DOCX)


_OF_ALL: Mapping[str, Exporter] = {"md": _markdown, "html": _html, "docx": _docx}


def exporter(kind: object, name: str) -> Exporter | None:
    """The kind's own exporter of this format, else that of all kinds, else None."""
    return exporters_of(kind).get(name) or _OF_ALL.get(name)
