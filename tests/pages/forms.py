"""Forms of a page as a browser without script would send them."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any

import httpx2

HTML = {"accept": "text/html,application/xhtml+xml"}


@dataclass(kw_only=True)
class Form:
    action: str
    fields: dict[str, str] = field(default_factory=dict)


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.forms: list[Form] = []
        self._area: str | None = None
        self._select: str | None = None
        self._inert = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self._inert = self._inert or tag == "template"
        name = None if self._inert else given.get("name")
        if tag == "form":
            self.forms.append(Form(action=given.get("action") or ""))
        elif name and self.forms and tag == "input" and given.get("type") != "checkbox":
            self.forms[-1].fields[name] = given.get("value") or ""
        elif tag == "select":
            self._select = name
        elif tag == "option" and self._select and self.forms:
            self._choose(self._select, given.get("value") or "", chosen="selected" in given)
        elif name and self.forms and tag == "textarea":
            self.forms[-1].fields[name] = ""
            self._area = name

    def _choose(self, name: str, value: str, *, chosen: bool) -> None:
        """The selected option, else the first."""
        if chosen or name not in self.forms[-1].fields:
            self.forms[-1].fields[name] = value

    def handle_endtag(self, tag: str) -> None:
        self._inert = self._inert and tag != "template"
        if tag == "select":
            self._select = None
        if tag == "textarea" and self._area:
            text = self.forms[-1].fields[self._area].removeprefix("\n")
            self.forms[-1].fields[self._area] = text.replace("\n", "\r\n")
            self._area = None

    def handle_data(self, data: str) -> None:
        if self._area:
            self.forms[-1].fields[self._area] += data


class Browser:
    """Opens pages and sends their forms; follows no redirect by itself."""

    def __init__(self, client: httpx2.AsyncClient) -> None:
        self.client = client

    async def open(self, path: str) -> httpx2.Response:
        return await self.client.get(path, headers=HTML)

    async def form(self, path: str, action: str) -> Form:
        """The form with this action on the page."""
        answer = await self.open(path)
        reader = _Reader()
        reader.feed(answer.text)
        found = [form for form in reader.forms if form.action == action]
        assert found, (answer.status_code, [form.action for form in reader.forms])
        return found[0]

    async def send(self, form: Form, **typed: Any) -> httpx2.Response:
        headers = {**HTML, "origin": str(self.client.base_url).rstrip("/")}
        return await self.client.post(
            form.action, data={**form.fields, **typed}, headers=headers, follow_redirects=False
        )
