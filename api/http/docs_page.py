"""`/docs`: the OpenAPI document as one page in the style of the others, in the theme of the system.

No script, nothing from elsewhere.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

Json = Mapping[str, Any]
_CODE = re.compile(r"`([^`]+)`")
_HEAD = (
    '<!doctype html><html lang="en"><head><meta charset="utf-8">'
    '<meta name="viewport" content="width=device-width, initial-scale=1">'
    '<meta name="color-scheme" content="light dark"><title>Redraft API</title>'
    '<link rel="stylesheet" href="{style}"></head>'
    '<body><main class="wrap"><p class="crumbs"><a href="/">Redraft</a> / '
    '<a href="/settings">Settings</a></p><h1>Redraft API</h1>'
    '<p><a href="/openapi.json">OpenAPI document</a></p>'
)


def render(document: Json, codes: list[str], style: str) -> str:
    """Routes with what their bodies hold, the models behind them, and the codes of refusals."""
    schemas = document["components"]["schemas"]
    rows, used = [], dict[str, None]()
    for path, operations in sorted(document["paths"].items()):
        for method, operation in operations.items():
            rows.append(_operation(method, path, operation, schemas, used))
    models = "".join(_model(name, schemas[name]) for name in _closed(used, schemas))
    listed = "".join(f'<li id="{code}"><code>{code}</code></li>' for code in codes)
    return (
        f"{_HEAD.format(style=style)}<dl>{''.join(rows)}</dl><h2>Bodies</h2>{models}"
        f"<h2>Codes</h2><ul>{listed}</ul></main></body></html>"
    )


def _operation(
    method: str, path: str, operation: Json, schemas: Json, used: dict[str, None]
) -> str:
    text = operation.get("description") or operation.get("summary") or ""
    name = _body_model(operation)
    more = ""
    if name is not None and name in schemas:
        used[name] = None
        more = f'<p>Body: <a href="#model-{name}">{name}</a></p>' + "".join(
            f"<pre>{_json(example)}</pre>" for example in schemas[name].get("examples", ())
        )
    title = f"<code>{method.upper()} {html.escape(path)}</code>"
    return f"<dt>{title}</dt><dd><p>{_told(text)}</p>{more}</dd>"


def _told(text: str) -> str:
    """A description with what stands between back-ticks as code."""
    return _CODE.sub(r"<code>\1</code>", html.escape(text))


def _body_model(operation: Json) -> str | None:
    content = operation.get("requestBody", {}).get("content", {})
    return _ref(content.get("application/json", {}).get("schema", {}))


def _ref(schema: Json) -> str | None:
    ref = schema.get("$ref")
    return str(ref).rsplit("/", 1)[-1] if ref else None


def _refs(schema: Any) -> Iterator[str]:
    """Every model that a schema names, at any depth."""
    if isinstance(schema, Mapping):
        if name := _ref(schema):
            yield name
        for value in schema.values():
            yield from _refs(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from _refs(value)


def _closed(used: dict[str, None], schemas: Json) -> list[str]:
    """The models of bodies and those they hold, each once, by name."""
    found, left = set[str](), list(used)
    while left:
        name = left.pop()
        if name not in found and name in schemas:
            found.add(name)
            left += list(_refs(schemas[name]))
    return sorted(found)


def _model(name: str, schema: Json) -> str:
    required = set(schema.get("required", ()))
    fields = "".join(
        f"<tr><th scope='row'><code>{html.escape(field)}</code></th>"
        f"<td>{_type(one)}{' (needed)' if field in required else ''}</td>"
        f"<td>{_told(one.get('description', ''))}</td></tr>"
        for field, one in schema.get("properties", {}).items()
    )
    told = f"<p>{_told(schema.get('description', ''))}</p>"
    table = f"<table><tbody>{fields}</tbody></table>" if fields else ""
    return f'<h3 id="model-{name}">{name}</h3>{told}{table}'


def _type(schema: Json) -> str:
    if name := _ref(schema):
        return f'<a href="#model-{name}">{name}</a>'
    for word in ("anyOf", "oneOf", "allOf"):
        if word in schema:
            return " or ".join(dict.fromkeys(_type(one) for one in schema[word]))
    if "enum" in schema:
        return " or ".join(f"<code>{html.escape(json.dumps(one))}</code>" for one in schema["enum"])
    if schema.get("type") == "array":
        return f"list of {_type(schema.get('items', {}))}"
    return html.escape(str(schema.get("format") or schema.get("type") or "any"))


def _json(value: object) -> str:
    return html.escape(json.dumps(value, ensure_ascii=False, indent=2))
