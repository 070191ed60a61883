"""Transcripts in the shapes of the products that export them: one normal form, nothing lost."""

from __future__ import annotations

import json

import pytest
import srt
import webvtt
from hypothesis import given, settings
from hypothesis import strategies as st

from api.reading.parsed import FileFormat, Parsed, Unreadable, Why
from api.reading.sources import read_source
from workflows.kinds.lines import split_speaker

SAID = ("Ana Ruiz", 5000, "We ship & test.")


def read(text: str, name: str) -> Parsed:
    parsed = read_source(text.encode(), name=name)
    assert parsed.given == len(parsed.lines) + len(parsed.left_out)
    return parsed


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (
            "voice.vtt",
            "\ufeffWEBVTT\r\n\r\n00:05.000 --> 00:08.000 align:start\r\n"
            "<v Ana Ruiz>We ship &amp; test.</v>\r\n",
        ),
        (
            "tag_alone.vtt",
            "WEBVTT\n\n00:05.000 --> 00:08.000\n<v Ana Ruiz>\nWe ship &amp; test.\n",
        ),
        ("blank.vtt", "WEBVTT\n\n00:05.000 --> 00:08.000\n<v Ana Ruiz>We ship\n\n&amp; test.\n"),
        ("zoom.vtt", "WEBVTT\n\n1\n00:00:05.000 --> 00:00:08.000\nAna Ruiz: We ship & test.\n"),
        (
            "teams.vtt",
            "WEBVTT\n\n1f0c3c5e-2b1a-4a53-9a52-0d7a4be1a001/12-0\n"
            "00:00:05.000 --> 00:00:08.000\n<v Ana Ruiz>We ship\n&amp; test.</v>\n",
        ),
        ("last_line.srt", "1\n00:00:05,000 --> 00:00:08,000\nAna Ruiz: We ship & test."),
        ("zoom_saved.txt", "[Ana Ruiz] 00:00:05\nWe ship & test.\n\n"),
        ("zoom_chat.txt", "00:00:05\t From Ana Ruiz to Everyone: We ship & test.\n"),
        ("zoom_chat_new.txt", "00:00:05 From Ana Ruiz to Everyone:\n\tWe ship & test.\n"),
        ("zoom_chat_old.txt", "00:00:05\t From Ana Ruiz : We ship & test.\n"),
        ("teams.txt", "Nick started transcription\nAna Ruiz   0:05\nWe ship & test.\n"),
        ("feishu.txt", "文字记录:\nAna Ruiz 00:05 \nWe ship & test.\n"),
        ("tencent.txt", "腾讯会议\nAna Ruiz(00:00:05): We ship & test.\nBen(00:00:09): ok\n"),
        ("tencent_below.txt", "Ana Ruiz（00:00:05）：\nWe ship & test.\nBen（00:00:09）：\nok\n"),
        ("others.txt", "[00:05] Ana Ruiz: We ship & test.\n[00:09] Ben: ok\n"),
        ("others2.txt", "00:00:05 Ana Ruiz: We ship & test.\n00:00:09 Ben: ok\n"),
        (
            "shape.json",
            json.dumps({"segments": [{"speaker": "Ana Ruiz", "start": 5, "text": SAID[2]}]}),
        ),
    ],
)
def test_the_same_words_have_the_same_form_in_all_shapes(name: str, text: str) -> None:
    parsed = read(text, name)
    assert SAID in [(line.speaker, line.start, line.text) for line in parsed.lines]
    assert "[00:00:05] Ana Ruiz: We ship & test." in parsed.text.splitlines()
    assert split_speaker("[00:00:05] Ana Ruiz: We ship & test.") == ("Ana Ruiz", SAID[2])
    assert parsed.not_understood == ()


def test_feishu_keeps_title_date_and_words_as_lines_of_nobody() -> None:
    parsed = read(
        "2026年6月2日 下午 5:51|14分钟 43秒\n\n关键词:\n上线、价格\n\n文字记录:\n"
        "说话人 1 00:05 \n我们周五上线。\n价格不变。\n\n张三 01:10\n好。\n\n李四 01:20\n",
        "妙记.txt",
    )
    assert parsed.vendor == "feishu"
    assert parsed.text.splitlines() == [
        "2026年6月2日 下午 5:51|14分钟 43秒",
        "关键词:",
        "上线、价格",
        "文字记录:",
        "[00:00:05] 说话人 1: 我们周五上线。",
        "[00:00:05] 说话人 1: 价格不变。",
        "[00:01:10] 张三: 好。",
        "[00:01:20] 李四:",
    ]
    assert parsed.repairs == {"empty_turn": 1}
    assert split_speaker(parsed.text.splitlines()[0])[0] == ""


def test_a_caption_file_full_of_faults_loses_no_line() -> None:
    parsed = read(
        "WEBVTT - weekly\nKind: captions\n\nNOTE made by hand\nover two lines\n\n"
        "00:08.000 --> 00:07.000\n<v Ana>First</v>\n\n"
        "00:06.000 --> 00:09.000\n<v Ben>Over</v><v Ana>lap</v>\n\n"
        "00:99.000 --> 00:09.000\nAna: lost its time\n\n"
        "00:20.000 --> 00:21.000\n\n",
        "faults.vtt",
    )
    assert [(line.speaker, line.start, line.text) for line in parsed.lines] == [
        ("Ana", 8000, "First"),
        ("Ben", 6000, "Over"),
        ("Ana", 6000, "lap"),
        ("", None, "00:99.000 --> 00:09.000"),
        ("Ana", None, "lost its time"),
        ("", 20000, ""),
    ]
    assert [(out.at, out.what) for out in parsed.left_out] == [
        (1, "header"),
        (2, "header"),
        (4, "note"),
    ]
    assert [line.at for line in parsed.not_understood] == [13]
    assert parsed.repairs == {"ends_before_it_begins": 1, "out_of_order": 1, "empty_cue": 1}


def test_two_speakers_in_one_cue_and_two_of_one_name_stay_two_lines() -> None:
    parsed = read(
        "1\n00:00:01,000 --> 00:00:02,000\nAna: yes\nBen: no\n\n"
        "2\n00:00:02,000 --> 00:00:03,000\nAna: maybe\n",
        "two.srt",
    )
    assert [(line.speaker, line.text) for line in parsed.lines] == [
        ("Ana", "yes"),
        ("Ben", "no"),
        ("Ana", "maybe"),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "We met at noon.\nLunch 12:30\nAll agreed.\n",
        "Lunch 12:30\nCoffee 15:00\n",
        "10:30 lunch\n11:00 talk about the budget\n",
        "# Notes\n\nAna: we ship\nBen: fine\n",
    ],
)
def test_text_without_turns_stays_byte_for_byte(text: str) -> None:
    parsed = read(text, "notes.txt")
    assert parsed.text == text
    assert not parsed.changed


def test_windows_line_ends_become_one_kind() -> None:
    assert read("Ana: a\r\nBen: b\rCem: c\n", "a.txt").text == "Ana: a\nBen: b\nCem: c\n"


def test_json_says_what_it_did_not_take() -> None:
    segments = [
        {"speaker": 1, "start": "00:00:05.250", "end": 4, "text": "We ship.", "id": 0},
        {"start": "soon", "text": "ok"},
        "words",
    ]
    parsed = read(json.dumps({"segments": segments, "language": "en"}), "t.json")
    assert parsed.format is FileFormat.JSON
    assert parsed.text == '[00:00:05] 1: We ship.\nok\n"words"\n'
    assert [(out.what, out.text) for out in parsed.left_out] == [
        ("start", "soon"),
        ("field", "1 × id"),
        ("field", "language"),
    ]
    assert [line.text for line in parsed.not_understood] == ['"words"']
    assert parsed.repairs == {"ends_before_it_begins": 1}


def test_json_of_another_shape_is_data_and_stays() -> None:
    text = '{"flights": [{"from": "PEK", "price": 120}]}'
    parsed = read(text, "reference.json")
    assert (parsed.format, parsed.text) == (FileFormat.DATA, text)


@pytest.mark.parametrize(
    ("text", "name", "why"),
    [
        ('{"segments": [', "t.json", Why.JSON_BROKEN),
        ("[" * 100_000, "t.json", Why.JSON_BROKEN),
        ("WEBVTT\n\n", "t.vtt", Why.NOTHING_SAID),
        ("WEBVTT\n\nNOTE nothing\n", "t.vtt", Why.NOTHING_SAID),
    ],
)
def test_a_transcript_that_says_nothing_is_refused(text: str, name: str, why: Why) -> None:
    with pytest.raises(Unreadable) as refused:
        read(text, name)
    assert refused.value.why is why


def test_the_content_decides_and_a_wrong_name_is_stated() -> None:
    parsed = read("WEBVTT\n\n00:05.000 --> 00:08.000\nHi\n", "wrong.srt")
    assert (parsed.format, parsed.repairs) == (FileFormat.VTT, {"other_format_than_named": 1})


WORD = st.text(alphabet="abcdefgh我们周五上线", min_size=1, max_size=8)
SENTENCE = st.lists(WORD, min_size=1, max_size=6).map(" ".join)
NAME = st.sampled_from(["Ana Ruiz", "Ben", "张三", "说话人 1"])
CUES = st.lists(
    st.tuples(st.integers(0, 7_000_000), st.integers(1, 9000), NAME, SENTENCE),
    min_size=1,
    max_size=12,
)


def _time(value: int, mark: str = ".") -> str:
    seconds, rest = divmod(value, 1000)
    return f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}{mark}{rest:03d}"


@settings(max_examples=30, deadline=None)
@given(cues=CUES)
def test_captions_count_in_is_count_out_and_agrees_with_other_readers(
    cues: list[tuple[int, int, str, str]],
) -> None:
    wanted = [(who, start, start + length, text) for start, length, who, text in cues]
    blocks = [f"{_time(a)} --> {_time(b)}\n<v {who}>{text}" for who, a, b, text in wanted]
    vtt = "WEBVTT\n\n" + "\n\n".join(blocks) + "\n"
    found = read(vtt, "a.vtt").lines
    assert [(line.speaker, line.start, line.end, line.text) for line in found] == wanted
    theirs = [(c.voice, c.text) for c in webvtt.from_string(vtt).captions]
    assert theirs == [(line.speaker, line.text) for line in found]
    rows = [
        f"{n}\n{_time(a, ',')} --> {_time(b, ',')}\n{who}: {text}\n"
        for n, (who, a, b, text) in enumerate(wanted, start=1)
    ]
    text = "\n".join(rows)
    found = read(text, "a.srt").lines
    assert [(line.speaker, line.start, line.end, line.text) for line in found] == wanted
    assert [cue.content for cue in srt.parse(text)] == [f"{w}: {t}" for w, _, _, t in wanted]


@settings(max_examples=30, deadline=None)
@given(cues=CUES, shape=st.sampled_from(["{w} {t}\n{s}", "{w}({t}): {s}", "[{w}] {t}\n{s}"]))
def test_turns_count_in_is_count_out(cues: list[tuple[int, int, str, str]], shape: str) -> None:
    wanted = [(who, start // 1000 * 1000, text) for start, _, who, text in cues]
    rows = [shape.format(w=w, t=_time(a)[:8], s=s) for w, a, s in wanted]
    parsed = read("文字记录:\n" + "\n\n".join(rows) + "\n", "a.txt")
    found = [(line.speaker, line.start, line.text) for line in parsed.lines[1:]]
    assert found == wanted
    again = read(parsed.text, "again.txt")
    assert again.text == parsed.text


@settings(max_examples=30, deadline=None)
@given(
    rows=st.lists(
        st.sampled_from(
            ["WEBVTT", "", "NOTE x", "1", "00:05.000 --> 00:06.000", "00:99 --> x", "<v Ana>a",
             "</v>b", "Ana: c", "-->", "STYLE", "说话人 1 00:05", "[Ana] 00:06", "words"]
        ),
        max_size=14,
    ),
    name=st.sampled_from(["a.vtt", "a.srt", "a.txt"]),
)  # fmt: skip
def test_no_word_of_any_file_is_lost(rows: list[str], name: str) -> None:
    rows = [*rows, "", "00:07.000 --> 00:08.000", "end"]
    parsed = read("WEBVTT\n\n" + "\n".join(rows), name)
    kept = parsed.text + " ".join(out.text for out in parsed.left_out)
    for row, word in (("<v Ana>a", "a"), ("</v>b", "b"), ("Ana: c", "c"), ("words", "words")):
        assert kept.count(word) >= rows.count(row)


def test_who_writes_to_one_person_in_a_chat_is_told_from_who_writes_to_all() -> None:
    parsed = read("10:00:05 From Ana to Bo: psst\n10:00:09 From Ana to Everyone: hello\n", "c.txt")
    assert [(line.speaker, line.text) for line in parsed.lines] == [
        ("Ana to Bo", "psst"),
        ("Ana", "hello"),
    ]
