"""The plan as Markdown, and what can be checked on it without a model."""

from __future__ import annotations

import re
from collections.abc import Sequence

from workflows.kinds.kind import Finding, Material, Payload
from workflows.vocabulary import Severity

_DAY = re.compile(r"^##\s+(?:Day\s+(\d{1,2})\b|第\s*(\d{1,2})\s*天)[^\r\n]*", re.MULTILINE)
_TIME = re.compile(r"^-\s+(\d{1,2}):(\d{2})[–-](\d{1,2}):(\d{2})[^\r\n]*", re.MULTILINE)


def day_is_well_formed(payload: Payload) -> bool:
    """A day number, a city and entries of texts; further fields are let through."""
    entries = payload.get("entries")
    if isinstance(payload.get("day"), bool) or not isinstance(payload.get("day"), int):
        return False
    if not isinstance(payload.get("city"), str) or not isinstance(entries, list):
        return False
    return all(
        isinstance(entry, dict)
        and all(isinstance(entry.get(name), str) for name in ("start", "end", "kind", "name"))
        and (entry.get("cost") is None or isinstance(entry["cost"], int | float))
        for entry in entries
    )


def render_plan(material: Material, days: Sequence[Payload]) -> str:
    """Days in their order, whatever order they came in."""
    chinese = (material.language or "").startswith("zh")
    currency = material.attributes.get("currency") or ""
    pieces = [f"# {material.title}"]
    for day in sorted(days, key=lambda payload: int(payload["day"])):
        number, city = day["day"], _line(day["city"])
        heading = f"## 第{number}天 · {city}" if chinese else f"## Day {number} · {city}"
        rows = [_entry(entry, currency) for entry in day["entries"]]
        pieces.append("\n".join([heading, "", *rows]).rstrip())
    return "\n\n".join(pieces) + "\n"


def _entry(entry: Payload, currency: str) -> str:
    cost = entry.get("cost")
    price = "" if cost is None else f" ({f'{cost:g} {currency}'.strip()})"
    times = f"{_line(entry['start'])}–{_line(entry['end'])}"
    return f"- {times} {_line(entry['kind'])}: {_line(entry['name'])}{price}"


def _line(text: object) -> str:
    return re.sub(r"\s+", " ", str(text)).strip()


def verify_plan(body: str, days: int) -> tuple[Finding, ...]:
    """Missing days are blockers, entries out of the order of time are minor."""
    headings = list(_DAY.finditer(body))
    have = {int(found.group(1) or found.group(2)) for found in headings}
    missing = [day for day in range(1, days + 1) if day not in have]
    findings = [
        Finding(
            category="missing_day",
            severity=Severity.BLOCKER,
            quote=(body.strip().splitlines() or [""])[0],
            problem=f"Days missing from the plan: {', '.join(map(str, missing))}.",
            raised_by="verifier:days",
        )
        for _ in missing[:1]
        if body.strip()
    ]
    ends = [*(found.start() for found in headings), len(body)]
    for heading, end in zip(headings, ends[1:], strict=True):
        findings += _times(body, heading.end(), end)
    return tuple(findings)


def _times(body: str, start: int, end: int) -> list[Finding]:
    findings: list[Finding] = []
    last = -1
    for found in _TIME.finditer(body, start, end):
        minutes = int(found.group(1)) * 60 + int(found.group(2))
        if minutes < last:
            findings.append(
                Finding(
                    category="order",
                    severity=Severity.MINOR,
                    quote=found.group(0),
                    problem="This entry begins before the one above it.",
                    raised_by="verifier:times",
                )
            )
        last = max(last, minutes)
    return findings
