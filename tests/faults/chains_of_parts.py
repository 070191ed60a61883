"""Chains of deaths at every section of a draft and at every part of a recording."""

from __future__ import annotations

from tests import sounds
from tests.fake_llm import Items, Reply, Request, draft_items
from tests.fake_llm.recogniser import Asked, FakeRecogniser, Says
from tests.faults.dying import Chain, Dying
from tests.faults.kit import PATIENT
from tests.stack import TRANSCRIPT, Json

SECTIONS = ("summary", "topics", "decisions", "actions", "questions")
TALKS = (2.3, 2.1, 1.9, 1.7)
"""Seconds of talk of each part, all different, so that a part is known by its length."""


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


class _OneALife:
    """Hears one part for each worker; whatever else it is sent waits."""

    def __init__(self) -> None:
        self.free = True
        self.told: list[float] = []
        """Lengths of the parts that were heard."""

    def __call__(self, asked: Asked) -> Says:
        answers, self.free = self.free, False
        if answers:
            self.told.append(asked.seconds)
        text = {"text": "We ship the blue box.", "duration": asked.seconds}
        return Says(body=text, wait=0.0 if answers else None)


async def heard(workers: Dying) -> None:
    """Dies as soon as a part is stored, at each; none that was stored is sent again."""
    one = _OneALife()
    async with FakeRecogniser(one) as recogniser:
        speech = {"name": "speech", "model": "fake", "base_url": recogniser.base_url}
        assert (await workers.stack.call("POST", "/api/profiles", speech))[0] == 201
        run = await _recorded(workers)
        for stored in range(1, len(TALKS) + 1):
            one.free = True
            before = len(recogniser.asked)
            await workers.dies()
            again = {asked.seconds for asked in recogniser.asked[before:]} & {
                *one.told[: stored - 1]
            }
            assert (len(one.told), again) == (stored, set())
        asked = len(recogniser.asked)
        await workers.lives()
        await workers.all_is_well(run)
        assert len(recogniser.asked) == asked, "all of it was stored"


async def _recorded(workers: Dying) -> Json:
    sound = sounds.wav([stretch for talk in TALKS for stretch in ((talk, True), (0.2, False))])
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
        play=heard,
        environment={**PATIENT, "REDRAFT_SPEECH_PART_SECONDS": "3"},
        points=["settle.committed"] * len(TALKS),
    ),
]
