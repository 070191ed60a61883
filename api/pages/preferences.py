"""The switches of language and theme in the frame: a form that sets cookies and comes back."""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.responses import Response

from api.http.auth import needs
from api.http.principals import Scope
from api.pages.errors import PageRoute
from api.pages.forms import go, read_form
from api.pages.viewer import LANGUAGE, THEME, THEMES, local_path, remember
from api.texts import languages

router = APIRouter(route_class=PageRoute, include_in_schema=False)


@router.post("/preferences", dependencies=[needs(Scope.READ, content=False)])
async def preferences(request: Request) -> Response:
    """What is unknown is passed over: the page comes back as it was."""
    form = await read_form(request)
    response = go(local_path(form["back"]))
    if locale := languages.match(form["language"]):
        remember(request, response, LANGUAGE, locale)
    if form["theme"] in THEMES:
        remember(request, response, THEME, form["theme"])
    return response
