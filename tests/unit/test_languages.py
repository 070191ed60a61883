"""Which language a reader gets, and that each catalogue says everything."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

import pytest
from babel.messages.pofile import read_po
from starlette.requests import Request

from api.pages.viewer import Viewer, local_path, viewer_of
from api.texts import extract, languages
from api.texts.text import available, catalogue

LANGUAGES = sorted(extract.catalogues())


@pytest.mark.parametrize("locale", LANGUAGES)
def test_a_catalogue_is_complete_and_keeps_every_named_place(locale: str) -> None:
    assert list(extract.faults(locale)) == []


@pytest.mark.parametrize("locale", LANGUAGES)
def test_a_catalogue_has_exactly_the_strings_of_the_code(locale: str) -> None:
    written = extract.catalogues()[locale].read_text(encoding="utf-8")
    assert written == extract.refreshed(locale), "run: python -m api.texts.extract"


@pytest.mark.parametrize("locale", LANGUAGES)
def test_a_language_has_its_own_name_on_the_switch(locale: str) -> None:
    assert locale in languages.NAMES


def test_faults_of_a_catalogue_are_found() -> None:
    lines = [
        'msgid "Round {round} finished"\nmsgstr "一轮结束"',
        'msgid "<strong>No.</strong>"\nmsgstr "不"',
        'msgid "Runs"\nmsgstr ""',
        '#, fuzzy\nmsgid "Steps"\nmsgstr "步骤"',
        'msgid "%(n)s run"\nmsgid_plural "%(n)s runs"\nmsgstr[0] "%(n)s 次运行"',
    ]
    catalog = read_po("\n\n".join(lines).splitlines(), locale="zh_Hans")
    found = [fault for message in catalog if message.id for fault in extract.faults_of(message)]
    places = "has other places or marks"
    assert found == [places, places, "is not translated", "is fuzzy"]


@pytest.mark.parametrize(
    ("tag", "locale"),
    [
        ("zh", "zh_Hans"),
        ("zh-CN", "zh_Hans"),
        ("zh_CN.UTF-8", "zh_Hans"),
        ("zh-TW", "zh_Hans"),
        ("zh-Hant-HK", "zh_Hans"),
        ("ZH-hans", "zh_Hans"),
        ("en-GB", "en"),
        ("en", "en"),
        ("de", None),
        ("zhx", None),
        ("", None),
        ("C", None),
    ],
)
def test_all_of_chinese_is_read_in_the_catalogue_there_is(tag: str, locale: str | None) -> None:
    assert languages.match(tag) == locale


@pytest.mark.parametrize(
    ("header", "locale"),
    [
        ("", "en"),
        ("zh-TW,zh;q=0.9,en;q=0.8", "zh_Hans"),
        ("en;q=0.8, zh-HK;q=0.9", "zh_Hans"),
        ("de-DE,de;q=0.9,zh;q=0.5,en;q=0.3", "zh_Hans"),
        ("zh;q=0, en;q=0.1", "en"),
        ("zh;q=0", "en"),
        ("*", "en"),
        ("fr, *;q=0.5", "en"),
        ("en, zh", "en"),
        ("zh;q=nan, en;q=0.1", "en"),
        ("zh;q=high", "en"),
        ("zh;q=7", "en"),
        (";;;,,,=zh", "en"),
    ],
)
def test_a_browser_is_answered_in_what_it_likes_best(header: str, locale: str) -> None:
    assert languages.accepted(header) == locale


def test_a_terminal_is_answered_in_its_language() -> None:
    assert languages.of_environment({"LANG": "zh_CN.UTF-8"}) == "zh_Hans"
    assert languages.of_environment({"LANG": "zh_CN.UTF-8", "LC_ALL": "C"}) == "en"
    assert languages.of_environment({"LANG": "en_US", "LC_MESSAGES": "zh_TW"}) == "zh_Hans"
    assert languages.of_environment({}) == "en"


def _viewer(path: str = "/runs", query: str = "", **headers: str) -> Viewer:
    return viewer_of(_request(path, query, "GET", headers))


def _request(path: str, query: str, method: str, headers: Mapping[str, str]) -> Request:
    sent = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    return Request(
        {
            "type": "http",
            "method": method,
            "path": path,
            "query_string": query.encode(),
            "headers": sent,
            "server": ("127.0.0.1", 80),
            "scheme": "http",
        }
    )


def test_the_address_comes_before_the_cookie_and_the_cookie_before_the_browser() -> None:
    cookie = "redraft_language=zh_Hans"
    assert _viewer(cookie=cookie, accept_language="en").locale == "zh_Hans"
    assert _viewer(query="lang=en", cookie=cookie).locale == "en"
    assert _viewer(query="lang=tlh", cookie=cookie).locale == "zh_Hans"
    assert _viewer(cookie="redraft_language=tlh", accept_language="zh-TW").locale == "zh_Hans"


def test_a_cookie_that_names_no_theme_or_zone_changes_nothing() -> None:
    plain = _viewer(cookie="redraft_theme=neon; redraft_zone=../../etc/passwd")
    assert (plain.theme, plain.zone_name, plain.zone) == ("system", "UTC", UTC)
    set_ = _viewer(cookie="redraft_theme=dark; redraft_zone=Asia/Shanghai")
    assert (set_.theme, set_.zone_name) == ("dark", "Asia/Shanghai")
    assert _viewer(cookie="redraft_zone=Europe").zone_name == "UTC"


def test_a_moment_is_told_in_the_zone_of_the_reader() -> None:
    at, words = datetime(2026, 3, 1, 20, 5, 9, tzinfo=UTC), catalogue("zh_Hans")
    assert words.moment(at) == "2026-03-01 20:05:09 UTC"
    for zone, told in (
        ("Asia/Shanghai", "2026-03-02 04:05:09 UTC+8"),
        ("Asia/Kolkata", "2026-03-02 01:35:09 UTC+5:30"),
        ("America/New_York", "2026-03-01 15:05:09 UTC-5"),
    ):
        viewer = _viewer(cookie=f"redraft_zone={zone}")
        assert words.moment(at, viewer.zone) == told


def test_the_switch_comes_back_to_the_page_it_stands_on_and_never_leads_away() -> None:
    assert _viewer("/runs", "q=a+b&lang=zh&status=FAILED").back == "/runs?q=a+b&status=FAILED"
    refused = _request(
        "/runs/1/resume", "", "POST", {"referer": "http://127.0.0.1/runs/1?text=2#edit"}
    )
    assert viewer_of(refused).back == "/runs/1?text=2"
    for outside in ("//other.example", "/\\other.example", "https://other.example", "", "runs"):
        assert local_path(outside) == "/"


def test_chinese_is_there_and_counts_without_a_plural() -> None:
    assert available() == ("en", "zh_Hans")
    words = catalogue("zh_Hans")
    assert words.sentence("status", "AWAITING_CONFIRMATION") == "待人工"
    assert words.sentence("waits", "queued", {"ahead": 1200}).endswith("前面还有 1,200 个。")
    assert words.compact(1_234_567) == "123.5万"
