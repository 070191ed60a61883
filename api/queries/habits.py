"""What the newest calls of a profile for a kind of document were like, by step."""

from __future__ import annotations

from api.queries.rows import Reader
from workflows.estimating import Habit, Range

RECENT, ENOUGH = 400, 5


async def habits(reader: Reader, profile: str, model: str, kind: str) -> dict[str, Habit]:
    """Of steps with enough calls that ended well and told their usage; the tenth and the ninetieth
    of a hundred replies."""
    rows = await reader.fetch(
        """
        SELECT step_name, count(*) AS calls,
            percentile_disc(0.1) WITHIN GROUP (ORDER BY tokens_output) AS low,
            percentile_disc(0.9) WITHIN GROUP (ORDER BY tokens_output) AS high,
            percentile_cont(0.5) WITHIN GROUP (ORDER BY tokens_input::float8 / estimated_input)
                FILTER (WHERE estimated_input >= 200) AS ratio
        FROM (
            SELECT run_id, model, status, usage_source, step_name, tokens_output, tokens_input,
                estimated_input
            FROM model_calls WHERE profile = $1 ORDER BY started_at DESC LIMIT $4) c
        WHERE c.model = $2 AND c.status = 'SUCCEEDED' AND c.usage_source = 'reported'
          AND c.tokens_input IS NOT NULL AND c.tokens_output IS NOT NULL
          AND (SELECT r.kind FROM runs r WHERE r.id = c.run_id) = $3
        GROUP BY step_name
        """,
        profile,
        model,
        kind,
        RECENT,
    )
    return {
        row["step_name"]: Habit(
            output=Range(low=row["low"], high=row["high"]), input_ratio=row["ratio"]
        )
        for row in rows
        if row["calls"] >= ENOUGH
    }
