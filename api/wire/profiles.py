"""Bodies of `POST /api/profiles` and `PUT /api/switches` as the OpenAPI document shows them.

What is taken is decided by `api.profiles` and `api.http.requests`; a test holds that every example
here is taken, and that names and fields are the same.
"""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field
from pydantic.config import JsonDict

Price = Annotated[
    float | Decimal, Field(ge=0, description="per million tokens; a number or a decimal string")
]
_EXAMPLE_PRICES: JsonDict = {
    "currency": "USD",
    "tables": [
        {"from": "2026-01-01", "input": "1.25", "cached": "0.125", "output": "10"},
        {"from": "2026-07-01", "input": "1.00", "cached": "0.10", "output": "8"},
    ],
}


class _Shown(BaseModel):
    model_config = ConfigDict(extra="forbid", populate_by_name=True)


class PriceTable(_Shown):
    """Prices that hold from a day on, until a later table does."""

    from_: Annotated[
        date | None,
        Field(
            alias="from", description="first day (UTC); left out: always", examples=["2026-01-01"]
        ),
    ] = None
    input: Annotated[
        Price | None,
        Field(
            description="of tokens read, per million; with `output`, or left out beside `minute`",
            examples=["1.25"],
        ),
    ] = None
    output: Annotated[
        Price | None, Field(description="of tokens written, per million", examples=["10"])
    ] = None
    cached: Annotated[
        Price | None, Field(description="of tokens read from the provider's cache; else as input")
    ] = None
    reasoning: Annotated[Price | None, Field(description="of tokens thought; else as output")] = (
        None
    )
    minute: Annotated[
        Price | None,
        Field(
            description="of a minute of sound that is heard, by the second; without it recordings "
            "cost what tokens a server reports cost, or nobody knows what",
            examples=["0.006"],
        ),
    ] = None


class Prices(_Shown):
    """Dated price tables of one currency. Without prices a cost is null, and no cost limit can
    be set."""

    model_config = ConfigDict(json_schema_extra={"examples": [_EXAMPLE_PRICES]})

    currency: Annotated[str, Field(pattern=r"^[A-Z]{3}$", description="code such as USD")] = "USD"
    tables: Annotated[list[PriceTable], Field(min_length=1, description="no two of one day")]


class Fallback(_Shown):
    """Another profile, which answers while this one does not. When it fails as often itself, the
    first has its turn again. It is shown wherever it answered."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"profile": "second-provider", "after": 3}]}
    )

    profile: Annotated[str, Field(description="name of a profile that exists, not its own")]
    after: Annotated[int, Field(ge=1, le=100, description="provider errors in a row")]


class RateLimits(_Shown):
    """Across all workers; left out is no limit."""

    requests_per_minute: Annotated[float | None, Field(ge=0.01)] = None
    tokens_per_minute: Annotated[
        float | None, Field(ge=0.01, description="read and written together")
    ] = None


class ProfileBody(_Shown):
    """The next version of that name, whole: nothing is taken over from the one before. It holds
    from the next step on, also of runs that are under way."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"name": "default", "model": "gpt-5-mini"},
                {
                    "name": "careful",
                    "model": "large-model",
                    "base_url": "https://models.example.com/v1",
                    "key_env": "CAREFUL_API_KEY",
                    "parameters": {"temperature": 0.2, "max_tokens": 8000},
                    "prices": _EXAMPLE_PRICES,
                    "fallback": {"profile": "default", "after": 3},
                    "rate_limits": {"requests_per_minute": 60, "tokens_per_minute": 200_000},
                },
            ]
        }
    )

    name: Annotated[str, Field(max_length=64, description="letters, digits, _ . - and spaces")]
    model: Annotated[str, Field(max_length=200, description="as the server calls it")]
    base_url: Annotated[
        str | None,
        Field(description="address of the server without secrets; null: OPENAI_BASE_URL's"),
    ] = None
    key_env: Annotated[
        str, Field(description="name of the environment variable that holds the key; never the key")
    ] = "OPENAI_API_KEY"
    parameters: Annotated[
        dict[str, Any],
        Field(
            description="of the request, such as temperature, top_p, seed, max_tokens, "
            "reasoning_effort; what only one server knows goes into extra_body"
        ),
    ] = Field(default_factory=dict)
    prices: Prices | None = None
    prompts: Annotated[
        dict[str, Any],
        Field(description="of a kind instead of its own: review, refine, reviewers, window_tokens"),
    ] = Field(default_factory=dict)
    fallback: Fallback | None = None
    rate_limits: RateLimits = Field(default_factory=RateLimits)


class SwitchesBody(_Shown):
    """While draining, starts and resumes answer 503 `draining`; nothing in flight is touched."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"draining": True, "note": "back at nine"}, {"draining": False}]
        }
    )

    draining: Annotated[bool, Field(description="true: nothing starts or resumes")]
    note: Annotated[
        str | None, Field(max_length=500, description="shown to everybody who is refused")
    ] = None
