"""Reply schemas of the model contract, strict: every property required, none added."""

from __future__ import annotations

from typing import Any

from workflows.kinds.kind import Payload

SCHEMA_NAMES = {
    "draft": "redraft_draft",
    "review": "redraft_review",
    "refine": "redraft_refine",
    "itinerary": "redraft_itinerary",
}


def _object(**properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _array(items: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": items}


_STRING = {"type": "string"}
_STRING_OR_NULL = {"type": ["string", "null"]}

REVIEW: Payload = _object(
    items=_array(
        _object(
            category=_STRING,
            severity={"type": "string", "enum": ["blocker", "major", "minor"]},
            quote=_STRING,
            problem=_STRING,
            suggestion=_STRING_OR_NULL,
            evidence=_array(_STRING),
        )
    ),
    score={"type": "integer", "minimum": 0, "maximum": 100},
)

REFINE: Payload = _object(
    items=_array(_object(find=_STRING, replace=_STRING, resolves=_array(_STRING)))
)

DRAFT: Payload = _object(items=_array(_object(key=_STRING, heading=_STRING, markdown=_STRING)))

SECTIONS: Payload = _object(
    items=_array(
        _object(
            key=_STRING,
            heading=_STRING,
            markdown=_STRING,
            evidence={"type": ["array", "null"], "items": _STRING},
        )
    )
)
"""A draft whose sections name the lines they rest on; a reply that names none is a draft too."""

ITINERARY: Payload = _object(
    items=_array(
        _object(
            day={"type": "integer", "minimum": 1},
            city=_STRING,
            entries=_array(
                _object(
                    start=_STRING,
                    end=_STRING,
                    kind=_STRING,
                    name=_STRING,
                    cost={"type": ["number", "null"]},
                )
            ),
        )
    )
)
