"""The chain from a recording or a transcript to the person, for a kind that somebody copied."""

from __future__ import annotations

import re
import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from api.cli.__main__ import main
from deploy.offline_model.server import OfflineModel
from tests.fake_llm import FakeLLM
from tests.fake_llm.recogniser import FakeRecogniser
from tests.faults.everything import Mortals
from tests.faults.kit import PATIENT
from tests.faults.power_cut import power_cut
from tests.services import ROOT, PostgresServer, TemporalServer
from tests.stack import Json, Stack
from tests.unit.trips import material

SAID = """Ana: Let's talk about the blue box, which the customers wait for.
Bo: The paint is dry and the lid fits since yesterday evening.
Ana: We decided to ship the blue box on Friday.
Bo: I will write the note for the customers."""


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
