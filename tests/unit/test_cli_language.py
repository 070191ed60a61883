"""The command line tells codes in the language of the terminal, and leaves codes as they are."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from api.cli import language
from api.cli.words import event_sentence, reason_sentence, status_word

STOPPED = {"reason": {"code": "limit_calls", "params": {"limit": 40}}, "score": None}
EVENT = {"type": "step_started", "round": 2, "name": "review", "attempt": 1, "actor": "worker"}


@pytest.fixture(autouse=True)
def _english_again() -> Iterator[None]:
    yield
    language.use("en", {})


@pytest.mark.parametrize(
    ("given", "environ"),
    [("zh", {}), ("zh-TW", {}), (None, {"LANG": "zh_CN.UTF-8"}), (None, {"LC_ALL": "zh_HK"})],
)
def test_chinese_has_the_words_of_the_pages(given: str | None, environ: dict[str, str]) -> None:
    language.use(given, environ)
    assert status_word("AWAITING_CONFIRMATION") == "待人工"
    assert reason_sentence(STOPPED) == "已达到调用次数上限（40）。"
    assert (language.head("STATUS"), language.head("CALL")) == ("状态", "CALL")
    assert language.next_line("x").endswith("x")
    assert not language.next_line("x").startswith("next")
    assert event_sentence(EVENT) == "第 2 轮：评审开始，第 1 次尝试"
    assert language.sentence("refusal", "draining") == "服务目前不接受新工作。进行中的不受影响。"


@pytest.mark.parametrize("environ", [{}, {"LANG": "C.UTF-8"}, {"LANG": "de_DE"}, {"LANG": "POSIX"}])
def test_any_other_terminal_gets_english(environ: dict[str, str]) -> None:
    language.use(None, environ)
    assert language.sentence("status", "FAILED") is None
    assert reason_sentence(STOPPED) == "its limit of model calls is reached (limit 40)"


def test_the_option_comes_before_the_environment_and_must_exist() -> None:
    language.use("en", {"LANG": "zh_CN"})
    assert status_word("FAILED") == "Failed"
    with pytest.raises(language.NoSuchLanguage, match="zh_Hans"):
        language.use("tlh", {})
