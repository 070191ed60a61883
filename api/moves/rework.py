"""Rework: a person sends the offered text back for more rounds.

Decisions about single changes make a human revision, and what was taken back or written by hand is
locked; comments become issues that the next refine has to answer; locks hold in every later
revision. All of it or nothing, in one transaction.
"""

from __future__ import annotations

from collections.abc import Sequence

from activities import record
from api import differences
from api.http import requests
from api.http.errors import misfit
from api.moves import edits, inserts, moving
from api.moves.idempotency import Done, Tools
from deploy.database import Connection, new_id
from workflows.kinds.kind import Finding
from workflows.scoring import fingerprint
from workflows.vocabulary import EventType, RunStatus, Severity, Signal


async def rework(
    connection: Connection, tools: Tools, run_id: str, wanted: requests.Rework
) -> Done:
    """202: the offered text, with what was decided, is worked on for `extra_rounds` more."""
    row = await moving.lock_run(connection, run_id)
    moving.require(row, RunStatus.AWAITING_CONFIRMATION)
    await inserts.refuse_draining(connection)
    offered = row.offered_revision
    assert offered is not None, "SQL holds it: a run that waits for a person offers a revision"
    body = await _body(connection, row.document_id, offered)
    decided = await _decided(connection, row, body, wanted.decisions)
    _check_quotes(decided, wanted)
    if decided == body:
        await record.rebase(connection, run_id, offered, fresh_loop=True)
        number = offered
    else:
        number = await edits.adopt(
            connection, tools, row, decided, base=offered, fresh_loop=True, tells_rounds=False
        )
    await _store_decisions(connection, tools, row, wanted.decisions)
    kept = [] if not wanted.decisions else await _kept(connection, row, body, wanted.decisions)
    await _store_locks(connection, tools, row, [lock.quote for lock in wanted.locks] + kept)
    comments = await _store_comments(connection, tools, row, wanted.comments, revision=number)
    await _grant(connection, run_id, wanted)
    told = await _store_instructions(connection, tools, row, wanted.instructions, number)
    facts = {
        "revision": number,
        "extra_rounds": wanted.extra_rounds,
        "comment_ids": comments,
        "locks": len(wanted.locks),
        "decisions": len(wanted.decisions),
        "instructions": wanted.instructions is not None,
        **told,
    }
    seq = await moving.move(connection, tools, row, EventType.RUN_REWORK, params=facts)
    return await moving.done(connection, tools, run_id, status=202, seq=seq, signal=Signal.RESUME)


async def _body(connection: Connection, document_id: str, number: int) -> str:
    body: str = await connection.fetchval(
        "SELECT body FROM revisions WHERE document_id = $1 AND number = $2", document_id, number
    )
    return body


async def _decided(
    connection: Connection,
    row: record.RunRow,
    body: str,
    decisions: Sequence[requests.ReworkDecision],
) -> str:
    """The offered text with the decisions about its changes. Raises 422 and 409 `stale_base`."""
    if not decisions:
        return body
    old = decisions[0].change.from_
    for at, decision in enumerate(decisions):
        if decision.change.algorithm not in (None, differences.ALGORITHM):
            pointer = f"/decisions/{at}/change/algorithm"
            raise misfit(pointer, "changes are counted otherwise now; ask for the diff again")
        if decision.change.to != row.offered_revision:
            raise edits.stale_base(row, decision.change.to, row.offered_revision, None)
        if decision.change.from_ != old:
            raise misfit(f"/decisions/{at}/change/from", "all must compare with one revision")
    await inserts.require_revision(connection, row.document_id, old, "/decisions/0/change/from")
    before = await _body(connection, row.document_id, old)
    return decide(before, body, decisions)


def decide(old: str, new: str, decisions: Sequence[requests.ReworkDecision]) -> str:
    """`new` with each decided hunk as it was in `old`, as it is, or as `text` says; all else stays
    byte for byte. Raises 422 for a hunk that is none, changes nothing or is decided twice."""
    hunks = differences.difference(old, new).hunks
    chosen: dict[int, requests.ReworkDecision] = {}
    for at, decision in enumerate(decisions):
        number, pointer = decision.change.hunk, f"/decisions/{at}/change/hunk"
        if number >= len(hunks) or all(piece.op == "equal" for piece in hunks[number].pieces):
            raise misfit(pointer, "no change has this number")
        if number in chosen:
            raise misfit(pointer, "this change is decided twice")
        chosen[number] = decision
    return "".join(_settled(hunk, chosen.get(number)) for number, hunk in enumerate(hunks))


def _settled(hunk: differences.Hunk, decision: requests.ReworkDecision | None) -> str:
    """The lines' ends behind the passage stay where a person's own text takes its place."""
    dropped = "insert" if decision is not None and not decision.accept else "delete"
    passage = "".join(piece.text for piece in hunk.pieces if piece.op != dropped)
    if decision is None or decision.text is None:
        return passage
    return decision.text.rstrip("\r\n") + passage[len(passage.rstrip("\r\n")) :]


async def _kept(
    connection: Connection,
    row: record.RunRow,
    body: str,
    decisions: Sequence[requests.ReworkDecision],
) -> list[str]:
    before = await _body(connection, row.document_id, decisions[0].change.from_)
    return kept_passages(before, body, decisions)


def kept_passages(old: str, new: str, decisions: Sequence[requests.ReworkDecision]) -> list[str]:
    """What no later round may change, as locks: each passage that a person took back or wrote, as
    it stands in the decided text. Of one that is gone, the lines around its place as one piece, so
    that nothing is put between them again."""
    chosen = {one.change.hunk: one for one in decisions}
    hunks = differences.difference(old, new).hunks
    parts = [_settled(hunk, chosen.get(number)) for number, hunk in enumerate(hunks)]
    found: list[str] = []
    for number, part in enumerate(parts):
        one = chosen.get(number)
        if one is None or (one.accept and one.text is None):
            continue
        quote = part.strip("\r\n")
        if not quote.strip():
            quote = _around("".join(parts[:number]), part, "".join(parts[number + 1 :]))
        if quote.strip() and quote not in found:
            found.append(quote)
    return found


def _around(before: str, gap: str, after: str) -> str:
    """The last line before a gap and the first one after it, with what is between them."""
    start = len(before.rstrip()) - len((before.rstrip().splitlines() or [""])[-1])
    rest = after.lstrip()
    end = len(after) - len(rest) + len((rest.splitlines() or [""])[0])
    return (before[start:] + gap + after[:end]).strip("\r\n")


def _check_quotes(body: str, wanted: requests.Rework) -> None:
    """Raises 422 for a passage that does not stand in the text the run goes on from."""
    quotes = [(f"/locks/{at}/quote", lock.quote) for at, lock in enumerate(wanted.locks)]
    quotes += [
        (f"/comments/{at}/quote", comment.quote)
        for at, comment in enumerate(wanted.comments)
        if comment.quote is not None
    ]
    for pointer, quote in quotes:
        if quote not in body:
            raise misfit(pointer, "this passage does not stand in the text, word for word")


async def _store_decisions(
    connection: Connection,
    tools: Tools,
    row: record.RunRow,
    decisions: Sequence[requests.ReworkDecision],
) -> None:
    await connection.executemany(
        """
        INSERT INTO decisions (id, document_id, run_id, revision, change, accept, text, actor)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
        """,
        [
            (
                new_id(),
                row.document_id,
                row.id,
                decision.change.to,
                {**decision.change.model_dump(by_alias=True), "algorithm": differences.ALGORITHM},
                decision.accept,
                decision.text,
                tools.caller.actor,
            )
            for decision in decisions
        ],
    )


async def _store_locks(
    connection: Connection,
    tools: Tools,
    row: record.RunRow,
    quotes: Sequence[str],
) -> None:
    """Each passage once, also when it is locked already."""
    await connection.executemany(
        """
        INSERT INTO locks (id, document_id, quote, actor)
        SELECT $1, $2, $3, $4 WHERE NOT EXISTS (
            SELECT FROM locks WHERE document_id = $2 AND quote = $3 AND removed_at IS NULL)
        """,
        [(new_id(), row.document_id, quote, tools.caller.actor) for quote in quotes],
    )


async def _store_comments(
    connection: Connection,
    tools: Tools,
    row: record.RunRow,
    comments: Sequence[requests.ReworkComment],
    *,
    revision: int,
) -> list[str]:
    """Each as a comment, and as a major issue: the loop cannot pass before it was answered."""
    ids = [
        await record.insert_comment(
            connection,
            row,
            comment.text,
            actor=tools.caller.actor,
            revision=revision,
            quote=comment.quote,
        )
        for comment in comments
    ]
    for comment in one_for_each_passage(comments):
        await _raise_issue(connection, tools, row, comment, revision=revision)
    return ids


async def _store_instructions(
    connection: Connection,
    tools: Tools,
    row: record.RunRow,
    instructions: str | None,
    revision: int,
) -> dict[str, str]:
    """As what was said with the move, so that the event shows it: a later one takes its place in
    the run."""
    if not instructions or not instructions.strip():
        return {}
    actor = tools.caller.actor
    said = await record.insert_comment(
        connection, row, instructions, actor=actor, revision=revision
    )
    return {"comment_id": said}


def one_for_each_passage(
    comments: Sequence[requests.ReworkComment],
) -> Sequence[requests.ReworkComment]:
    """What is said of one passage is one issue: all of it, or only the last would be answered."""
    found: dict[str, requests.ReworkComment] = {}
    for at, comment in enumerate(comments):
        key = fingerprint(_finding(comment)) if comment.quote else str(at)
        known = found.setdefault(key, comment)
        if known is not comment:
            text = f"{known.text.strip()}\n{comment.text.strip()}"
            found[key] = known.model_copy(update={"text": text})
    return tuple(found.values())


def _finding(comment: requests.ReworkComment) -> Finding:
    return Finding(
        category="comment",
        severity=Severity.MAJOR,
        quote=comment.quote or "",
        problem=comment.text.strip(),
    )


async def _raise_issue(
    connection: Connection,
    tools: Tools,
    row: record.RunRow,
    comment: requests.ReworkComment,
    *,
    revision: int,
) -> None:
    """An issue of its own, also about a passage that has one already: what a reviewer found there,
    or a person said before, stays beside it."""
    finding = _finding(comment)
    own = new_id()
    number = await connection.fetchval(
        """
        INSERT INTO issues (id, run_id, number, fingerprint, category, severity, quote,
            problem, raised_by, raised_round, seen_round, revision, status)
        SELECT $1, $2, 1 + coalesce((SELECT max(number) FROM issues WHERE run_id = $2), 0),
            CASE WHEN $6 = '' OR EXISTS (
                SELECT FROM issues WHERE run_id = $2 AND fingerprint = $3)
            THEN $11 ELSE $3 END,
            $4, $5, $6, $7, $8, $9, $9, $10, 'open'
        RETURNING number
        """,
        own,
        row.id,
        fingerprint(finding),
        finding.category,
        finding.severity,
        finding.quote,
        finding.problem,
        f"person:{tools.caller.actor}",
        row.current_round,
        revision,
        f"comment:{own}",
    )
    await moving.tell(
        connection,
        tools,
        row.id,
        EventType.ISSUE_RAISED,
        {
            "number": number,
            "severity": str(finding.severity),
            "category": finding.category,
            "round": row.current_round,
            "raised_by": f"person:{tools.caller.actor}",
        },
    )


async def _grant(connection: Connection, run_id: str, wanted: requests.Rework) -> None:
    """Rounds from here on, and what was asked for in general."""
    await connection.execute(
        """
        UPDATE runs SET max_rounds = current_round + $2, stage = 'review',
            instructions = coalesce($3, instructions)
        WHERE id = $1
        """,
        run_id,
        wanted.extra_rounds,
        wanted.instructions,
    )
