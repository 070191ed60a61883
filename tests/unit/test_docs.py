"""`/docs` and the OpenAPI document say what a body holds, by examples that would be taken."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from pydantic import BaseModel

from api.http import docs_page
from api.http.bodies import fit
from api.http.requests import SwitchesChange
from api.profiles import NewProfile, problems
from api.wire.profiles import ProfileBody, SwitchesBody
from tests.architecture.sources import ROOT
from workflows.kinds import load_kinds

DOCUMENT = json.loads((ROOT / "deploy/openapi.json").read_text(encoding="utf-8"))
SCHEMAS = DOCUMENT["components"]["schemas"]


@pytest.mark.parametrize(
    ("shown", "taken"), [(ProfileBody, NewProfile), (SwitchesBody, SwitchesChange)]
)
def test_a_body_is_documented_with_the_fields_that_are_taken(
    shown: type[BaseModel], taken: type[BaseModel]
) -> None:
    assert shown.model_fields.keys() == taken.model_fields.keys()
    for name, field in taken.model_fields.items():
        assert shown.model_fields[name].is_required() == field.is_required(), name


def test_every_example_of_a_profile_is_one_that_would_be_taken() -> None:
    kinds = load_kinds()
    bodies: list[dict[str, Any]] = list(SCHEMAS["ProfileBody"]["examples"])
    for name in ("Prices", "Fallback"):
        field = {"Prices": "prices", "Fallback": "fallback"}[name]
        bodies += [{"name": "a", "model": "m", field: one} for one in SCHEMAS[name]["examples"]]
    assert len(bodies) > 3
    for body in bodies:
        assert problems(fit(NewProfile, body), kinds) == []
    for switch in SCHEMAS["SwitchesBody"]["examples"]:
        fit(SwitchesChange, switch)


def test_docs_show_bodies_their_fields_and_examples() -> None:
    page = docs_page.render(DOCUMENT, ["a_code"], "/static/1/base.css")
    for part in (
        'Body: <a href="#model-ProfileBody">',
        'id="model-PriceTable"',
        "of tokens written, per million",
        'id="model-Fallback"',
        "provider errors in a row",
        "&quot;draining&quot;: true",
        "<code>a_code</code>",
    ):
        assert part in page
    assert "<script" not in page
    assert '<link rel="stylesheet" href="/static/1/base.css">' in page
    assert '<a href="/settings">' in page
    assert "`" not in re.sub(r"<pre>.*?</pre>", "", page, flags=re.DOTALL)
