"""The body of a request, and what a server that refuses part of it gets instead.

A server that knows no json_schema gets json_object, then plain text, both with the schema in the
prompt; one that knows no `max_tokens` gets `max_completion_tokens`; one that knows no
`stream_options` goes without. Each is a request of its own, with its own row; what works is
remembered per server and model by the client, and by the rows of calls. At most four steps lead
from the first manner to the last, so nothing goes round for ever.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from activities.failures import ProviderError, Verdict, classify
from activities.model import tokens
from activities.model.profile import Profile
from workflows.kinds.kind import Prompt
from workflows.profiles import EXTRA, LIMIT_FIELD, LIMIT_FIELDS, OURS

_FORMAT = re.compile(r"response_?format|json[ _-]?(object|mode)|schema|structured|grammar", re.I)


class Format(StrEnum):
    JSON_SCHEMA = "json_schema"
    JSON_OBJECT = "json_object"
    PLAIN = "plain"


_NEXT_FORMAT = {Format.JSON_SCHEMA: Format.JSON_OBJECT, Format.JSON_OBJECT: Format.PLAIN}


@dataclass(frozen=True, kw_only=True)
class Manner:
    """How one server and model want to be asked."""

    format: Format = Format.JSON_SCHEMA
    limit_field: str = LIMIT_FIELDS[0]
    usage_option: bool = True

    @property
    def code(self) -> str:
        """As rows have it."""
        return f"{self.format} {self.limit_field} {'usage' if self.usage_option else 'no_usage'}"


def manner_of(code: str | None) -> Manner:
    """What a row says; the first manner for what it does not say, or says in other words."""
    words = (code or "").split()
    if len(words) != 3 or words[0] not in {*Format} or words[1] not in LIMIT_FIELDS:
        return Manner()
    return Manner(
        format=Format(words[0]), limit_field=words[1], usage_option=words[2] != "no_usage"
    )


def milder(manner: Manner, error: ProviderError) -> Manner | None:
    """What to ask after a refusal, or None when the refusal was not about the manner."""
    failure = classify(error)
    if failure.verdict is not Verdict.FINAL or failure.code != "bad_request":
        return None
    said = f"{error.param} {error.text}"
    if LIMIT_FIELDS[1] in said and manner.limit_field == LIMIT_FIELDS[0]:
        return replace(manner, limit_field=LIMIT_FIELDS[1])
    if "stream_options" in said and manner.usage_option:
        return replace(manner, usage_option=False)
    if _FORMAT.search(said) and manner.format in _NEXT_FORMAT:
        return replace(manner, format=_NEXT_FORMAT[manner.format])
    return None


def output_limit(profile: Profile, prompt: Prompt) -> int:
    """The most output tokens a call may be billed: the profile's number, else the prompt's."""
    for name in LIMIT_FIELDS:
        given = profile.parameters.get(name)
        if isinstance(given, int) and not isinstance(given, bool) and given > 0:
            return given
    return prompt.max_output_tokens


def request_body(profile: Profile, prompt: Prompt, manner: Manner) -> dict[str, Any]:
    """The JSON body; the profile's parameters win over everything but what makes it a stream."""
    parameters = dict(profile.parameters)
    named = parameters.pop(LIMIT_FIELD, None)
    extra = parameters.pop(EXTRA, None)
    if isinstance(extra, Mapping):
        parameters |= {name: value for name, value in extra.items() if name not in OURS}
    given = next((name for name in LIMIT_FIELDS if name in parameters), None)
    for name in LIMIT_FIELDS:
        parameters.pop(name, None)
    field = manner.limit_field
    if manner.limit_field == LIMIT_FIELDS[0]:
        field = named if isinstance(named, str) and named else given or field
    body: dict[str, Any] = {
        "model": profile.model,
        "messages": _messages(prompt, manner.format),
        field: output_limit(profile, prompt),
        **parameters,
        "stream": True,
    }
    if manner.usage_option:
        body["stream_options"] = {"include_usage": True}
    response_format = _response_format(prompt, manner.format)
    if response_format is not None:
        body["response_format"] = response_format
    return body


def input_tokens(prompt: Prompt, manner: Manner) -> int:
    """Input tokens of a request as it is sent in this manner."""
    messages = _messages(prompt, manner.format)
    return tokens.count_messages([message["content"] for message in messages])


def prompt_hash(profile: Profile, prompt: Prompt) -> str:
    """Equal for equal requests: everything that can change the reply, never the key."""
    parts = {
        "base_url": profile.base_url,
        "model": profile.model,
        "parameters": profile.parameters,
        "system": prompt.system,
        "user": prompt.user,
        "schema_name": prompt.schema_name,
        "schema": prompt.schema,
        "max_output_tokens": prompt.max_output_tokens,
    }
    return hashlib.sha256(_canonical(parts).encode("utf-8", "replace")).hexdigest()


def _messages(prompt: Prompt, wanted: Format) -> list[dict[str, str]]:
    system = prompt.system
    if wanted is not Format.JSON_SCHEMA:
        system = (
            f"{system}\n\nReply with one JSON object and nothing else. It must satisfy this JSON "
            f"Schema ({prompt.schema_name}):\n{_canonical(prompt.schema)}"
        )
    messages = [{"role": "system", "content": system}] if system else []
    return [*messages, {"role": "user", "content": prompt.user}]


def _response_format(prompt: Prompt, wanted: Format) -> Mapping[str, Any] | None:
    if wanted is Format.PLAIN:
        return None
    if wanted is Format.JSON_OBJECT:
        return {"type": "json_object"}
    return {
        "type": "json_schema",
        "json_schema": {"name": prompt.schema_name, "schema": prompt.schema, "strict": True},
    }


def _canonical(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False, default=_plain)


def _plain(value: Any) -> Any:
    """Mappings and tuples of the frozen dataclasses."""
    return dict(value) if isinstance(value, Mapping) else list(value)
