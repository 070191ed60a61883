"""The command line tells codes in the language of the terminal, and leaves codes as they are."""

from __future__ import annotations

import ast
import importlib
import re
import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from api.cli import language
from api.cli.__main__ import main, parser
from api.cli.run import limit_lines
from api.cli.show import ago, cost_line, print_refusal, run_lines
from api.cli.words import event_sentence, next_act, reason_sentence, status_word
from api.texts import cli
from deploy import terminal
from deploy.help_zh import HELP
from deploy.local.__main__ import _parser as parser_of_the_stack
from deploy.local.__main__ import main as stack
from tests.architecture.sources import ROOT, parsed
from tests.fake_api import make_run
from worker.doctor import parser_of

HAN = re.compile("[\u3400-\u9fff]")
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
    assert (language.head("STATUS"), language.head("ID")) == ("状态", "ID")
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


def test_what_is_wrong_with_a_field_is_said_in_the_language_of_the_terminal() -> None:
    detail = "This must be a whole number of days from 1 to 30."
    language.use("zh", {})
    said = language.field_sentence({"code": "attribute", "detail": detail}, {})
    assert said == "天数须为 1 至 30 的整数。"
    assert (
        language.field_sentence({"code": "new", "detail": "Nobody knows."}, {}) == "Nobody knows."
    )
    language.use("en", {})
    assert language.field_sentence({"code": "attribute", "detail": detail}, {}) == detail


def test_every_text_of_every_help_has_its_chinese() -> None:
    texts = set[str]()
    for made in (parser(), parser_of_the_stack(), parser_of()):
        for one in terminal.parsers_of(made):
            texts |= {text for text in (one.description, one.epilog) if text}
            texts |= {action.help for action in terminal.listed(one) if action.help}
    plain = {text for text in texts if not text.startswith("RUNNING, ")}  # codes and their words
    assert len(plain) > 80
    assert plain - set(HELP) == set()


@pytest.mark.parametrize(
    "module", ["api.__main__", "worker.__main__", "deploy.migrations.__main__"]
)
def test_help_of_the_parts_is_chinese_to_its_last_line(
    module: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        importlib.import_module(module).main(["--help", "--lang", "zh"])
    told = capsys.readouterr().out.splitlines()[1:]
    english = re.compile(r"[a-z]{3,} [a-z]{3,}")
    assert [line for line in told if english.search(re.sub(r"`[^`]*`", "", line))] == []
    assert [line for line in told if line.startswith("  REDRAFT_") and not HAN.search(line)] == []


_SAYERS = {"say", "complain", "UsageError", "Unreachable", "NoSuchLanguage", "_fact"}
_WORDED = {"tell", "cell", "word", "N_", "sentence", "page_sentence", "next_line"}
_OURS = re.compile(r"redraft|\./redraft [a-z ]+|/(runs|documents)/")


def _bare(node: ast.AST) -> Iterator[str]:
    """Words of a printed text that no catalogue sees."""
    if isinstance(node, ast.Call):
        name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
        if name in _WORDED or isinstance(node.func, ast.Attribute):
            return
    if isinstance(node, ast.Subscript | ast.Compare):
        return
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        if re.search(r"[a-z]{3}", _OURS.sub("", node.value)):
            yield node.value
        return
    for child in ast.iter_child_nodes(node):
        yield from _bare(child)


def test_every_sentence_of_the_command_line_goes_through_the_catalogue() -> None:
    bare, calls = [], 0
    for path in sorted((ROOT / "api" / "cli").glob("*.py")):
        for node in ast.walk(parsed(path)):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                if node.func.id in _SAYERS:
                    calls += 1
                    bare += [f"{path.name}: {said}" for arg in node.args for said in _bare(arg)]
                given = [key.value for key in node.keywords if key.arg == "empty"]
                bare += [f"{path.name}: {said}" for arg in given for said in _bare(arg)]
    assert calls > 100
    assert bare == []


def test_every_head_of_a_table_has_its_word() -> None:
    heads = set[str]()
    for path in sorted((ROOT / "api" / "cli").glob("*.py")):
        text = path.read_text(encoding="utf-8")
        for given in re.findall(r"(?:COLUMNS|_LOCKS|columns) = (\(.*?\)\n)", text, re.DOTALL):
            heads |= set(re.findall(r'"([A-Z]+)"', given))
        for given in re.findall(r"= _table\((.*)\)", text):
            heads |= set(re.findall(r'"([A-Z]+)"', given))
    assert {"ISSUE", "CALL", "STEP", "PASSAGE", "REV", "FALLBACK"} <= heads
    assert heads - {"ID"} <= set(cli.HEADS)


@pytest.mark.parametrize(
    ("command", "words", "said"),
    [
        (main, ["rework", "--help", "--lang", "zh"], "必须保持不变的段落"),
        (main, ["--lang=zh", "--help"], "列出运行"),
        (stack, ["up", "--lang", "zh_CN", "--help"], "页面监听的地址"),
    ],
)
def test_help_is_chinese_where_it_is_asked_for(
    command: object, words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert callable(command)
    with pytest.raises(SystemExit):
        command(words)
    told = capsys.readouterr().out
    assert said in told
    assert told.startswith("用法：")
    assert "show this help" not in told


@pytest.mark.parametrize(
    ("words", "variables", "said"),
    [
        ([], {"LANG": "zh_CN.UTF-8"}, "文档与运行"),
        (["--help", "--lang", "zh"], {}, "文档与运行"),
        ([], {"LC_ALL": "en_US.UTF-8", "LANG": "zh_CN.UTF-8"}, "documents and runs"),
    ],
)
def test_the_launcher_lists_itself_in_the_language_of_the_terminal(
    words: list[str], variables: dict[str, str], said: str
) -> None:
    done = subprocess.run(
        [str(ROOT / "redraft"), *words],
        env={"PATH": "/usr/bin:/bin", **variables},
        capture_output=True,
        check=True,
        encoding="utf-8",
    )
    assert said in done.stdout


def test_both_lists_of_the_launcher_name_the_same_commands() -> None:
    lists = re.findall(r"<<'TEXT'\n(.*?)\nTEXT", (ROOT / "redraft").read_text("utf-8"), re.DOTALL)
    named = [re.findall(r"^  ([a-z]+)(?= )", one, re.MULTILINE) for one in lists]
    assert len(named) == 2
    assert named[0] == named[1]


TOLD = {
    "type": "call_ended",
    **{"round": 1, "step": "review", "part": "main", "number": 2, "items_kept": 3},
    **{"tokens": {"input": 120, "output": 40}, "actor": "worker"},
}


def test_an_event_is_told_in_the_sentence_of_the_pages_with_its_tokens() -> None:
    language.use("en", {})
    assert event_sentence(TOLD) == (
        "Round 1: review, call 2 for main ended, items kept: 3 · 120 tokens in, 40 out"
    )
    rework = {"type": "run_rework", "extra_rounds": 2, "locks": 1, "comment_ids": ["01a", "01b"]}
    assert event_sentence(rework) == (
        "Sent back for rework, further rounds at most: 2 · comments: 2 · locks: 1"
    )
    lost = {"type": "worker_lost", "worker": "003eaa/boot/x/8232/1/2"}
    assert event_sentence(lost) == "Worker 003e:8232 lost"
    language.use("zh", {})
    told = "第 1 轮：评审，main 的第 2 次调用结束，保留条目 3 个 · 输入 120 Token，输出 40"
    assert event_sentence(TOLD) == told


def test_a_stop_at_a_limit_names_what_is_enough() -> None:
    stopped = make_run(
        status="INTERRUPTED",
        reason={"code": "limit_tokens", "params": {"limit": 900, "used": 850, "needed": 1400}},
    )
    command = f"./redraft resume {stopped['id']} --limit tokens=1400"
    assert next_act(stopped) == f"{command} or more (now 900)"
    language.use("zh", {})
    assert next_act(stopped) == f"{command}，或更大（现为 900）"


def test_a_run_is_told_in_chinese_to_its_last_line() -> None:
    language.use("zh", {})
    used = {"input": 665, "output": 12, "cached": 0, "reasoning": 0}
    stopped = make_run(status="INTERRUPTED", calls=2, tokens=used, open_issues=3, score=70)
    lines = run_lines(stopped) + limit_lines(stopped)
    commands = re.compile("submit|resume|--limit|Token")
    assert not [line for line in lines[1:] if re.search("[a-z]{3}", commands.sub("", line))]
    assert "665 Token" in " ".join(lines)
    assert ago("2026-03-01T10:00:00Z", datetime(2026, 3, 1, 10, 4, tzinfo=UTC)) == "4 分钟前"


def test_a_rule_s_finding_is_told_in_the_language_of_the_terminal() -> None:
    chinese = {"problem": "“A”重复出现。", "raised_by": "verifier:repeats"}
    language.use("en", {})
    assert language.problem_of(chinese) == "“A” stands twice."
    assert language.problem_of({**chinese, "raised_by": "model"}) == chinese["problem"]
    language.use("zh", {})
    assert language.problem_of({**chinese, "problem": "“A” stands twice."}) == chinese["problem"]


def test_what_a_run_paid_in_two_currencies_is_not_added() -> None:
    paid = {"costs": {"EUR": "0.2", "USD": "1"}, "cost": None, "currency": None}
    run = make_run(calls=2, tokens={"input": 9, "output": 1}, **paid)
    language.use("en", {})
    assert cost_line(run).endswith("0.2 EUR + 1 USD")
    assert cost_line({**run, "unpriced_calls": 1}).endswith("0.2 EUR + 1 USD + unknown")


def test_the_note_of_a_drain_is_told_to_who_is_refused() -> None:
    for tongue in ("zh", "en"):
        language.use(tongue, {})
        told = language.page_sentence("refusal", "draining", {"note": "九点回来"})
        assert told is not None
        assert told.endswith("“九点回来”")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["resume", "x", "--max-rounds", "99"], "参数 --max-rounds：'99' 不是 1 至 20 的整数"),
        (["show"], "缺少参数：id"),
        (["runs", "--no-such"], "不认识的参数：--no-such"),
        (["bulk", "wipe"], "参数 action：没有 'wipe'（可选："),
    ],
)
def test_what_is_wrong_with_a_command_line_is_said_in_chinese(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main([*words, "--lang", "zh"])
    assert ended.value.code == 2
    told = capsys.readouterr().err
    assert said in told
    assert "error" not in told


def test_rounds_out_of_range_are_refused_before_anybody_is_asked(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["resume", "x", "--max-rounds", "99", "--lang", "en"])
    assert ended.value.code == 2
    assert "--max-rounds: '99' is no whole number from 1 to 20" in capsys.readouterr().err


def test_a_refusal_in_chinese_says_what_is_wrong_and_nothing_where_nothing_is_next(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The field, and how the run stands, come after the page's sentence; an empty word stays so."""
    language.use("zh", {})
    fault = {"pointer": "/locks/0", "code": "invalid", "detail": "no such passage"}
    detail = "/locks/0: no such passage"
    print_refusal("invalid_request", {"detail": detail, "errors": [fault]}, language.word(""))
    moved = {"detail": "the run is AWAITING_CONFIRMATION", "run": {"status": "CONFIRMED"}}
    print_refusal("status_changed", moved, "./redraft show ID")
    printed = capsys.readouterr().err
    assert "/locks/0: no such passage" in printed
    assert "CONFIRMED" in printed
    assert "Project-Id-Version" not in printed
    assert printed.count("下一步") == 1
