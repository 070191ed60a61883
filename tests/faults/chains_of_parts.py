"""Chains of deaths at every section of a draft, every window of a long one, and every part of a
recording."""

from __future__ import annotations

from dataclasses import replace

from tests import sounds
from tests.fake_llm import Items, Reply, Request, draft_items
from tests.fake_llm.recogniser import Asked, FakeRecogniser, Says
from tests.faults.dying import Chain, Dying
from tests.faults.kit import PATIENT
from tests.stack import TRANSCRIPT, Json

SECTIONS = ("summary", "topics", "decisions", "actions", "questions")
TALKS = (2.7, 2.3, 1.9, 1.5)
"""Seconds of talk of each part, so different that a part is known by its length."""
SILENCE = 0.2
"""Seconds of it behind each."""
WINDOWS = 3
SAID = [f"Ana: so it is decided, number {n} gets the green light." for n in range(1, WINDOWS + 1)]


async def sections(workers: Dying) -> None:
    """Dies as soon as a section is stored, at each; none is asked for again."""
    llm = workers.llm
    llm.script({"redraft_draft": _next_section})
    source = {"name": "t.txt", "media_type": "text/plain", "text": TRANSCRIPT}
    run = await workers.stack.create({"kind": "minutes", "title": "Weekly", "sources": [source]})
    await workers.dies(workers.kills)
    await workers.lives()
    await workers.all_is_well(run)
    await workers.nothing_repaid(run)
    asked = [one.already_keys("key") for one in llm.of("redraft_draft")]
    assert asked == [list(SECTIONS[:kept]) for kept in range(len(SECTIONS))]


def _next_section(request: Request) -> Reply:
    """Those that are missing; it stands still behind the first of them."""
    return Reply(items=draft_items(request), stall_after=Items(1))


class _Windows:
    """In each life one part of the draft is answered, the first that is not whole: up to its second
    section in one life, the rest of it in the next. Whoever else asks waits."""

    def __init__(self) -> None:
        self.parts = [*(f"notes:{n}" for n in range(1, WINDOWS + 1)), ""]
        self.life = 0

    @property
    def turn(self) -> str:
        return self.parts[self.life // 2]

    @property
    def open(self) -> list[str]:
        """Parts that may be asked for in this life: what was noted is composed when all of it is
        there."""
        return [part for part in self.parts[self.life // 2 :] if part or not self.turn]

    def __call__(self, request: Request) -> Reply:
        reply = Reply(items=draft_items(request))
        if self.life == 2 * len(self.parts):
            return reply
        if request.part != self.turn:
            return replace(reply, hang=True)
        return reply if self.life % 2 else replace(reply, stall_after=Items(2))


async def windows(workers: Dying) -> None:
    """Dies within and behind each window of a long transcript, and of what is composed of them; no
    window that is noted is asked for again, and of the one in its turn only what is missing."""
    llm, stack, model = workers.llm, workers.stack, _Windows()
    llm.script({"redraft_draft": model})
    profile = {"name": "windows", "model": "fake", "prompts": {"window_tokens": 600}}
    assert (await stack.call("POST", "/api/profiles", profile))[0] == 201
    said = [f"Bo: in line {n} we only talk about the blue box." for n in range(80)]
    for at, sentence in enumerate(SAID):
        said.insert(len(said) * at // WINDOWS + 9, sentence)
    source = {"name": "t.txt", "media_type": "text/plain", "text": "\n".join(said)}
    given = {"kind": "minutes", "title": "Long", "profile": "windows", "sources": [source]}
    run = await stack.create(given)
    while model.life < 2 * len(model.parts):
        before = len(llm.requests)
        await workers.dies()
        asked = llm.requests[before:]
        assert {one.part for one in asked} <= {*model.open}, (model.life, asked)
        mine = [one for one in asked if one.part == model.turn]
        kept = len(mine[-1].already_keys("key"))
        assert (1 <= kept <= 2) if model.life % 2 else not kept
        model.life += 1
    paid = len(llm.of("redraft_draft"))
    await workers.lives()
    await workers.all_is_well(run, side_by_side=WINDOWS)
    assert len(llm.of("redraft_draft")) == paid, "all of it was stored"
    await workers.nothing_repaid(run, schema="redraft_draft")
    path = f"/api/documents/{run['document_id']}/revisions/0"
    body = (await stack.call("GET", path))[1]["body"]
    found = [body.count(sentence.removeprefix("Ana: ")) for sentence in SAID]
    assert found == [1] * WINDOWS, body


class _InTurn:
    """Hears the part of this life, the first in the first; whatever else it is sent waits. By part,
    not by request: one of a worker that died may be read in the life after it."""

    def __init__(self) -> None:
        self.life = 0

    def __call__(self, asked: Asked) -> Says:
        text = {"text": "We ship the blue box.", "duration": asked.seconds}
        return Says(body=text, wait=0.0 if _part_of(asked) == self.life else None)


def _part_of(asked: Asked) -> int:
    """Counted from 0."""
    lengths = [talk + SILENCE * 0.75 for talk in TALKS]  # they are cut within the silences
    return min(range(len(TALKS)), key=lambda part: abs(lengths[part] - asked.seconds))


async def heard(workers: Dying) -> None:
    """Dies as soon as a part is stored, at each; none that was stored is sent again."""
    model, stack = _InTurn(), workers.stack
    async with FakeRecogniser(model) as recogniser:
        speech = {"name": "speech", "model": "fake", "base_url": recogniser.base_url}
        assert (await stack.call("POST", "/api/profiles", speech))[0] == 201
        run = await _recorded(workers)
        for model.life in range(len(TALKS)):
            before = len(recogniser.asked)
            await workers.dies()
            sent = {_part_of(asked) for asked in recogniser.asked[before:]}
            assert min(sent) == model.life, sent
            whole = "SELECT count(*) AS n FROM step_parts WHERE done_at IS NOT NULL"
            assert (await stack.sql(whole))[0]["n"] == model.life + 1
        asked = len(recogniser.asked)
        await workers.lives()
        await workers.all_is_well(run)
        assert len(recogniser.asked) == asked, "all of it was stored"


async def _recorded(workers: Dying) -> Json:
    sound = sounds.wav([stretch for talk in TALKS for stretch in ((talk, True), (SILENCE, False))])
    answer = await workers.stack.http.post(
        "/api/documents",
        data={"kind": "minutes", "title": "Weekly"},
        files={"audio": ("talk.wav", sound, "audio/wav")},
    )
    assert answer.status_code == 201, answer.text
    path = f"/api/documents/{answer.json()['id']}/runs"
    code, run = await workers.stack.call("POST", path, {})
    assert code == 201, run
    return dict(run)


CHAINS = [
    Chain(play=sections, environment=PATIENT, points=["items.committed"] * len(SECTIONS)),
    Chain(
        play=windows,
        environment=PATIENT,
        points=["items.committed", "settle.committed"] * (WINDOWS + 1),
    ),
    Chain(
        play=heard,
        environment={**PATIENT, "REDRAFT_SPEECH_PART_SECONDS": "3"},
        points=["settle.committed"] * len(TALKS),
    ),
]
