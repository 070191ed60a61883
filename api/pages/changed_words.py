"""What changed, word by word, as HTML. A page shows hundreds of such pieces; macros of a template
took three times as long for them as all the rest."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

from markupsafe import Markup, escape

from api.pages.review_text import Line
from api.texts.text import Catalogue

_END = '<span class="hidden">; </span>'


class _Piece(Protocol):
    @property
    def op(self) -> str: ...

    @property
    def text(self) -> str: ...


class ChangedWords:
    """In one language. What is only seen by its colour is said too."""

    def __init__(self, words: Catalogue) -> None:
        said = {"ins": words.text("inserted:"), "del": words.text("deleted:")}
        self._ins, self._del = (
            (f'<{tag}><span class="hidden">{escape(word)} </span>', f"{_END}</{tag}>")
            for tag, word in said.items()
        )
        blank = escape(words.text("only blank lines"))
        self._blank = Markup(f'<p class="line muted small">{blank}</p>')

    def filters(self) -> dict[str, Callable[..., Markup]]:
        return {"changed_words": self.pieces, "changed_lines": self.lines}

    def pieces(self, pieces: Iterable[_Piece]) -> Markup:
        """Of one stretch that changed."""
        return Markup("".join(self._html(one.op, escape(one.text)) for one in pieces))

    def lines(self, lines: Sequence[Line], op: str) -> Markup:
        """Of one passage; what an open issue quotes is marked."""
        if not lines:
            return Markup() if op == "equal" else self._blank
        html: list[str] = []
        for line in lines:
            html.append(f'<p class="line {escape(line.shape)}">')
            for bit in line.bits:
                text = escape(bit.text)
                quoted = bit.marked and bit.op != "delete"
                html.append(self._html(bit.op, f"<mark>{text}</mark>" if quoted else text))
            html.append("</p>")
        return Markup("".join(html))

    def _html(self, op: str, escaped: str) -> str:
        if op == "insert":
            return f"{self._ins[0]}{escaped}{self._ins[1]}"
        if op == "delete":
            return f"{self._del[0]}{escaped}{self._del[1]}"
        return escaped
