"""The chain from the recording to the person, cut in all its stages at once (issue 6.4)."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import StartStack
from tests.fake_llm import FakeLLM
from tests.fake_llm.recogniser import FakeRecogniser
from tests.faults.kit import PATIENT
from tests.faults.power_cut import power_cut


@pytest.mark.timeout(300)
async def test_documents_over_all_stages_go_on_from_their_items_after_a_power_cut(
    start_stack: StartStack, llm: FakeLLM, tmp_path: Path
) -> None:
    folder = {"REDRAFT_BLOB_URL": tmp_path.as_uri(), "REDRAFT_SPEECH_PART_SECONDS": "3"}
    stack = await start_stack({**PATIENT, **folder})
    async with FakeRecogniser() as heard:
        await power_cut(stack, llm, heard)
