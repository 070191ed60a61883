"""The chain from a recording or a transcript to the person: corrections, deletions, power cuts."""

from __future__ import annotations

import asyncio
import re
import shutil
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from api.cli.__main__ import main
from deploy.offline_model.server import OfflineModel
from tests import sounds
from tests.eventually import eventually
from tests.fake_llm import FakeLLM, Reply, Request, good_reviewer
from tests.fake_llm.players import Player
from tests.fake_llm.recogniser import FakeRecogniser, Says
from tests.faults.chains_of_calls import SLOW
from tests.faults.everything import Mortals
from tests.faults.kit import PATIENT, planted
from tests.faults.power_cut import LONG, power_cut
from tests.faults.rows import children_of, left_of
from tests.services import ROOT, PostgresServer, TemporalServer
from tests.stack import Json, Stack, minutes
from tests.unit.trips import material

SAID = """Ana: Let's talk about the blue box, which the customers wait for.
Bo: The paint is dry and the lid fits since yesterday evening.
Ana: We decided to ship the blue box on Friday.
Bo: I will write the note for the customers."""


THREE = {"max_rounds": 3}


def sources_of_a_trip(name: str) -> list[Json]:
    return [
        {"name": one.name, "media_type": one.media_type, "text": one.text}
        for one in material(name, in_words=True).sources
    ]


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folders of minutes and trips under names of their own, trips of at most four days, and
    beside them a folder of templates."""
    kinds = tmp_path_factory.mktemp("kinds")
    shutil.copytree(ROOT / "workflows" / "kinds" / "minutes", kinds / "councils")
    for path in (kinds / "councils/__init__.py", kinds / "councils/sample/document.json"):
        text = path.read_text(encoding="utf-8")
        path.write_text(text.replace('"minutes"', '"councils"'), encoding="utf-8")
    shutil.copytree(ROOT / "workflows" / "kinds" / "itinerary", kinds / "excursions")
    request = kinds / "excursions" / "request.py"
    code = request.read_text(encoding="utf-8")
    assert "MOST_DAYS = 30" in code
    request.write_text(code.replace("MOST_DAYS = 30", "MOST_DAYS = 4"), encoding="utf-8")
    (kinds / "own").mkdir()
    template = "## Decisions {#decisions}\n\nEach.\n"
    (kinds / "own" / "council.md").write_text(template, encoding="utf-8")
    return kinds


@pytest_asyncio.fixture(scope="module")
async def chain(
    mortal_postgres: PostgresServer,
    mortal_temporal: TemporalServer,
    model_port: int,
    copied: Path,
) -> AsyncIterator[Stack]:
    environment = {
        **PATIENT,
        "REDRAFT_KINDS_DIR": str(copied),
        "REDRAFT_TEMPLATES_DIR": str(copied / "own"),
        "REDRAFT_BLOB_URL": (copied / "recordings").as_uri(),
        "REDRAFT_SPEECH_PART_SECONDS": "3",
    }
    (copied / "recordings").mkdir()
    url = f"http://127.0.0.1:{model_port}/v1"
    client = await mortal_temporal.ready()
    stack = Stack(mortal_postgres, mortal_temporal, client, url, environment)
    yield await stack.start()
    await stack.stop()


async def test_a_copied_kind_goes_from_a_transcript_to_its_person_by_a_template_of_its_own(
    chain: Stack, copied: Path
) -> None:
    assert main(["kinds", "check", str(copied / "councils")]) == 0
    model = OfflineModel(rate=0)
    port = await model.start()
    offline = {"name": "offline", "model": "offline", "base_url": f"http://127.0.0.1:{port}/v1"}
    assert (await chain.call("POST", "/api/profiles", offline))[0] == 201
    run = await chain.create(
        {
            "kind": "councils",
            "title": "Monday",
            "profile": "offline",
            "attributes": {"template": "council"},
            "sources": [{"name": "t.txt", "media_type": "text/plain", "text": SAID}],
        }
    )
    run = await chain.until(run["id"], "AWAITING_CONFIRMATION", seconds=60)
    await model.stop()
    number = run["offered_revision"]
    path = f"/api/documents/{run['document_id']}/revisions/{number}"
    body = (await chain.call("GET", path))[1]["body"]
    assert [line for line in body.splitlines() if line.startswith("##")] == ["## Decisions"]
    assert "- Ana: We decided to ship the blue box on Friday." in body
    [councils] = [
        kind
        for kind in (await chain.call("GET", "/api/kinds"))[1]["items"]
        if kind["name"] == "councils"
    ]
    assert "council" in [template["name"] for template in councils["templates"]]


async def test_a_copied_trip_is_planned_by_the_modules_of_its_own_folder(
    chain: Stack, copied: Path
) -> None:
    assert main(["kinds", "check", str(copied / "excursions")]) == 3, "its sample has five days"
    model = OfflineModel(rate=0)
    port = await model.start()
    planner = {"name": "planner", "model": "offline", "base_url": f"http://127.0.0.1:{port}/v1"}
    assert (await chain.call("POST", "/api/profiles", planner))[0] == 201
    asked = {
        "kind": "excursions",
        "title": "A trip",
        "profile": "planner",
        "sources": sources_of_a_trip("00"),
    }
    code, refused = await chain.call("POST", "/api/runs", {**asked, "attributes": {"days": 5}})
    assert (code, refused["errors"][0]["pointer"]) == (422, "/attributes/days")
    assert "from 1 to 4" in refused["errors"][0]["detail"]
    run = await chain.create(asked)
    run = await chain.until(run["id"], "AWAITING_CONFIRMATION", seconds=60)
    await model.stop()
    path = f"/api/documents/{run['document_id']}/export?format=md"
    _, body = await chain.call("GET", path)
    assert re.findall(r"^## Day (\d)", body, re.M) == ["1", "2", "3"]


@pytest.mark.timeout(200)
async def test_a_persons_edits_outlive_a_corrected_transcript_and_its_new_run(
    chain: Stack, llm: FakeLLM
) -> None:
    llm.script(good_reviewer(errors=[("on Friday", "on Monday")]))
    run = await chain.create({"kind": "minutes", "title": "Corrected", "sources": [transcript()]})
    run = await chain.until(run["id"], "AWAITING_CONFIRMATION", seconds=100)
    documents = f"/api/documents/{run['document_id']}"
    offered = run["offered_revision"]
    _, minutes = await chain.call("GET", f"{documents}/revisions/{offered}")
    mine = minutes["body"].replace("on Monday", "on Friday") + "\n- Ana: my own note.\n"
    edit = {"base_revision": offered, "body": mine}
    assert (await chain.call("POST", f"{documents}/revisions", edit))[0] == 201
    confirmed = {"revision": offered + 1}
    assert (await chain.call("POST", f"/api/runs/{run['id']}/confirm", confirmed))[0] == 200
    [old] = (await chain.call("GET", f"{documents}/sources"))[1]["items"]
    right = {**transcript(SAID.replace("Friday", "Monday")), "replaces": old["id"]}
    assert (await chain.call("POST", f"{documents}/sources", right))[0] == 201
    told = (await chain.call("GET", f"{documents}/revisions"))[1]["items"]
    assert [one["stale"] for one in told] == [True] * (offered + 2)
    code, again = await chain.call("POST", f"{documents}/runs", {})
    assert (code, again["base_revision"]) == (201, offered + 1)
    again = await chain.until(again["id"], "AWAITING_CONFIRMATION", seconds=100)
    path = f"{documents}/revisions/{again['offered_revision']}"
    _, last = await chain.call("GET", path)
    assert "- Ana: my own note." in last["body"]
    assert "on Friday" not in last["body"]
    assert (last["author"], last["stale"]) == ("run", False)


def transcript(text: str = SAID) -> Json:
    return {"name": "t.txt", "media_type": "text/plain", "text": text}


@pytest.mark.timeout(200)
async def test_a_meeting_deleted_at_any_stage_takes_its_recording_and_lets_go_of_its_servers(
    chain: Stack, llm: FakeLLM, copied: Path
) -> None:
    """Heard, drafted, checked, waiting for its person."""

    def play(request: Request) -> Reply:
        reply = good(request)
        assert isinstance(reply, Reply)
        stands = '"title":"waiting"' not in request.prompt.about
        return replace(reply, hang=True) if stands else reply

    good = good_reviewer()
    llm.script(play)
    async with FakeRecogniser(lambda asked: Says(body={}, wait=None)) as heard:
        speech = {"name": "speech", "model": "fake", "base_url": heard.base_url}
        assert (await chain.call("POST", "/api/profiles", speech))[0] == 201
        said, body = ("source", ("t.txt", SAID)), ("body", ("m.md", "# Minutes\n\n- We ship.\n"))
        stages = {"heard": [], "drafted": [said], "checked": [said, body], "waiting": [said, body]}
        runs = [await recorded(chain, title, files) for title, files in stages.items()]
        await llm.wait_until(lambda: llm.in_flight == 2, seconds=100)
        async with asyncio.timeout(100):
            await heard.arrived.wait()
        await chain.until(runs[-1]["id"], "AWAITING_CONFIRMATION", seconds=100)
        ids = [run[name] for run in runs for name in ("id", "document_id")]
        ids += await children_of(chain, [run["id"] for run in runs])
        assert len(files_in(copied / "recordings")) >= len(runs)
        for run in runs:
            assert (await chain.call("DELETE", f"/api/documents/{run['document_id']}"))[0] == 204
        deleted = time.monotonic()
        await llm.wait_gone(2, seconds=100)
        async with asyncio.timeout(100):
            await heard.gone.wait()
        assert time.monotonic() - deleted < 2 + SLOW

    async def no_file() -> bool:
        return not files_in(copied / "recordings")

    await eventually(no_file, seconds=100, what="no recording on the disk")
    assert await left_of(chain, ids) == []


def files_in(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


async def recorded(
    chain: Stack, title: str, files: Sequence[tuple[str, Any]], *, seconds: float = 1.0
) -> Json:
    sound = ("audio", ("talk.wav", sounds.wav([(seconds, True)]), "audio/wav"))
    answer = await chain.http.post(
        "/api/documents", data={"kind": "minutes", "title": title}, files=[sound, *files]
    )
    assert answer.status_code == 201, answer.text
    path = f"/api/documents/{answer.json()['id']}/runs"
    code, run = await chain.call("POST", path, {})
    assert code == 201, run
    return dict(run)


@pytest.mark.timeout(200)
async def test_what_a_run_took_lies_within_its_estimate(
    chain: Stack, llm: FakeLLM, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A text in rounds, a long transcript in windows whose every part is cut once, a recording, and
    a trip whose days come two at a time."""
    llm.script(_cut_once(good_reviewer(errors=planted(3))))
    monkeypatch.setenv("OFFLINE_STOP_AFTER_ITEMS", "2")
    planner = OfflineModel(rate=0)
    port = await planner.start()
    trips = {"name": "trips", "model": "offline", "base_url": f"http://127.0.0.1:{port}/v1"}
    small = {"name": "estimated", "model": "fake", "prompts": {"window_tokens": 800}}
    trip = {"kind": "itinerary", "sources": sources_of_a_trip("08")}
    wanted: dict[str, Json] = {
        "rounds": minutes(errors=3),
        "windows": {"kind": "minutes", "profile": "estimated", "sources": [transcript(LONG)]},
        "trip": {**trip, "profile": "trips"},
    }
    async with FakeRecogniser() as heard:
        speech = {"name": "speech", "model": "fake", "base_url": heard.base_url}
        for profile in (speech, small, trips):
            assert (await chain.call("POST", "/api/profiles", profile))[0] == 201
        expected = {title: await estimate(chain, given) for title, given in wanted.items()}
        expected["heard"] = await estimate(chain, {"kind": "minutes", "audio_seconds": 10.0})
        runs = {
            title: await chain.create({**THREE, **given, "title": title})
            for title, given in wanted.items()
        }
        runs["heard"] = await recorded(chain, "heard", [], seconds=10.0)
        for title, begun in runs.items():
            run = await chain.until(begun["id"], "AWAITING_CONFIRMATION", seconds=100)
            took = {"calls": run["calls"], **{k: run["tokens"][k] for k in ("input", "output")}}
            spans = {"calls": expected[title]["calls"], **expected[title]["tokens"]}
            within = {name: one["min"] <= took[name] <= one["max"] for name, one in spans.items()}
            assert all(within.values()), (title, took, spans)
            assert spans["calls"]["max"] <= 4 * took["calls"], "a range that says something"
    await planner.stop()


async def estimate(chain: Stack, given: Json) -> Json:
    code, expected = await chain.call("POST", "/api/estimate", {**THREE, **given})
    assert code == 200, expected
    return dict(expected)


def _cut_once(good: Player) -> Player:
    """The first reply to each window of a draft ends behind its second section."""
    seen = set[str]()

    def play(request: Request) -> Reply:
        reply = good(request)
        assert isinstance(reply, Reply)
        if request.schema != "redraft_draft" or request.part in seen:
            return reply
        seen.add(request.part)
        return replace(reply, items=(reply.items or [])[:2], finish_reason="length")

    return play


@pytest.mark.timeout(300)
async def test_documents_over_all_stages_go_on_from_their_items_after_a_power_cut(
    chain: Stack,
    llm: FakeLLM,
    mortal_postgres: PostgresServer,
    mortal_temporal: TemporalServer,
    copied: Path,
) -> None:
    """Recordings that nobody heard whole become minutes by a template that is broken by then."""
    mortals = Mortals(stack=chain, llm=llm, postgres=mortal_postgres, temporal=mortal_temporal)
    file = copied / "own" / "council.md"
    async with FakeRecogniser() as heard:
        await power_cut(
            mortals,
            heard,
            kind="councils",
            template="council",
            meanwhile=lambda: file.write_text("no section any more"),
        )
    rows = await chain.sql(
        """
        SELECT body FROM revisions r JOIN documents d ON d.id = r.document_id
        WHERE d.title LIKE '%recorded%' AND r.number = 0
        """
    )
    headings = [re.findall("^## .*", row["body"], re.M) for row in rows]
    assert headings == [["## Decisions"]] * 2
