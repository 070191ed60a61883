"""What the newest calls of a profile for a kind of document were like, by step."""

from __future__ import annotations

from api.queries.rows import Reader
from workflows.estimating import Habit, Range

RECENT, ENOUGH = 400, 5


async def habits(reader: Reader, profile: str, model: str, kind: str) -> dict[str, Habit]:
    """Of steps with enough calls that ended well and told their usage; the tenth and the ninetieth
    of a hundred replies; calls beyond the first of a part."""
    rows = await reader.fetch(
        """
        SELECT step_name, count(*) FILTER (WHERE told) AS calls,
            percentile_disc(0.1) WITHIN GROUP (ORDER BY tokens_output) FILTER (WHERE told) AS low,
            percentile_disc(0.9) WITHIN GROUP (ORDER BY tokens_output) FILTER (WHERE told) AS high,
            percentile_cont(0.5) WITHIN GROUP (ORDER BY tokens_input::float8 / estimated_input)
                FILTER (WHERE told AND estimated_input >= 200) AS ratio,
            count(*)::float8 / count(DISTINCT (run_id, round, part)) - 1 AS again
        FROM (
            SELECT run_id, model, step_name, round, part, tokens_output, tokens_input,
                estimated_input, status = 'SUCCEEDED' AND usage_source = 'reported'
                    AND tokens_input IS NOT NULL AND tokens_output IS NOT NULL AS told
            FROM model_calls WHERE profile = $1 ORDER BY started_at DESC LIMIT $4) c
        WHERE c.model = $2 AND (SELECT r.kind FROM runs r WHERE r.id = c.run_id) = $3
        GROUP BY step_name
        """,
        profile,
        model,
        kind,
        RECENT,
    )
    return {
        row["step_name"]: Habit(
            output=Range(low=row["low"], high=row["high"]),
            input_ratio=row["ratio"],
            again=row["again"],
        )
        for row in rows
        if row["calls"] >= ENOUGH
    }
