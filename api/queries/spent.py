"""What a run cost, by currency: read from its calls only where its row has no sum of them."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from api import wire
from deploy.database import Row

SPENT = """
    CASE WHEN r.cost IS NULL AND r.calls > 0 THEN (
        SELECT jsonb_build_object('unpriced', coalesce(sum(m.unpriced), 0), 'costs', coalesce(
            jsonb_object_agg(m.currency, m.cost::text) FILTER (WHERE m.cost > 0), '{}'))
        FROM (SELECT c.currency, sum(c.cost) AS cost, count(*) FILTER (
                  WHERE c.cost IS NULL AND c.usage_source <> 'unknown') AS unpriced
              FROM model_calls c WHERE c.run_id = r.id AND c.status <> 'STARTED'
              GROUP BY c.currency) m) END AS spent
"""
"""Of a run `r`. A call whose use nobody knows is as little in a sum as it is `unpriced`."""


def spent_of(row: Row) -> dict[str, Any]:
    """The fields of a run that tell of money."""
    found = row["spent"] or {"costs": {}, "unpriced": 0}
    costs = {name: wire.money(Decimal(cost)) for name, cost in sorted(found["costs"].items())}
    if row["cost"] is not None and row["currency"]:
        costs = {row["currency"]: wire.money(row["cost"])}
    return {
        "cost": wire.money(row["cost"]),
        "currency": row["currency"],
        "costs": costs,
        "unpriced_calls": found["unpriced"],
        "cost_is_estimate": row["cost_is_estimate"],
    }
