"""Recordings cut at silences, and transcripts whose times fit over the parts."""

from __future__ import annotations

import io
import time
import wave
from itertools import pairwise
from pathlib import Path

import pytest

from deploy import listening
from tests import sounds
from workflows.cutting import STEP, Span, cut, silent
from workflows.spoken import Line, Mark, evidence, lines_of

LOUD, QUIET = 90, 0


def talk(seconds: float, pauses: list[tuple[float, float]]) -> list[int]:
    """Levels of speech with silences (from, to)."""
    return [
        QUIET if any(a <= n * STEP < b for a, b in pauses) else LOUD
        for n in range(round(seconds / STEP))
    ]


def test_a_short_recording_is_one_part() -> None:
    assert cut(talk(300, [(100, 101)])) == [Span(start=0.0, end=300.0)]


def test_a_part_ends_in_the_middle_of_the_longest_silence_in_reach() -> None:
    spans = cut(talk(500, [(100, 110), (200, 200.6), (250, 254), (290, 291)]))
    assert spans[0].end == pytest.approx(252, abs=0.1)
    assert [span.start for span in spans[1:]] == [spans[0].end]


@pytest.mark.parametrize("pauses", [[], [(0, 10_800)]])
def test_three_hours_without_pause_or_without_a_word_are_cut_too(
    pauses: list[tuple[float, float]],
) -> None:
    spans = cut(talk(10_800, pauses))
    assert (spans[0].start, spans[-1].end) == (0.0, 10_800.0)
    assert all(one.end == two.start for one, two in pairwise(spans))
    assert all(0 < span.seconds <= 300 for span in spans)
    assert len({span.key for span in spans}) == len(spans) <= 60


def test_levels_find_the_silence_of_a_recording(tmp_path: Path) -> None:
    file = tmp_path / "a"
    file.write_bytes(sounds.wav([(1.0, True), (1.0, False), (0.5, True)]))
    levels = b"".join(listening.levels(str(file)))
    assert len(levels) * STEP == pytest.approx(2.5, abs=STEP)
    assert silent(levels, 1.1, 1.9)
    assert not silent(levels, 0.2, 0.8)
    assert not silent(levels, 1.5, 2.3)


@pytest.mark.parametrize("kind", ["wav", "mp3", "webm"])
def test_parts_are_those_samples_however_many_are_asked_for(tmp_path: Path, kind: str) -> None:
    """The last part alone, as after a kill, is the same as after the others."""
    file = tmp_path / "a"
    made = {
        "wav": lambda: sounds.wav([(3.0, True)]),
        "mp3": lambda: sounds.encoded(3.0, "mp3", "libmp3lame"),
        "webm": lambda: sounds.encoded(3.0, "webm", "libopus"),
    }
    file.write_bytes(made[kind]())
    three = list(listening.parts(str(file), [(0, 1200), (1200, 1750), (1750, 3000)]))
    last = list(listening.parts(str(file), [(1750, 3000)]))
    assert last == three[2:]
    lengths = []
    for data, levels in three:
        with wave.open(io.BytesIO(data)) as heard:
            lengths.append(heard.getnframes() / heard.getframerate())
        assert len(levels) * STEP == pytest.approx(lengths[-1], abs=0.1)
    assert lengths == pytest.approx([1.2, 0.55, 1.25], abs=0.1)


PART = Span(start=3300.0, end=3600.0)
TALKED = [LOUD] * round(300 / STEP)


def texts(lines: list[Line]) -> list[tuple[float, str, Mark | None]]:
    return [(line.start, line.text, line.mark) for line in lines]


def test_times_count_from_the_start_of_the_recording_and_never_go_back() -> None:
    reply = {
        "segments": [
            {"start": 0.5, "end": 3.0, "text": " One."},
            {"start": 299.0, "end": 330.0, "text": "Late."},
            {"start": 12.0, "end": 11.0, "text": "Back."},
            {"start": float("nan"), "end": None, "text": "Timeless."},
            {"start": 5.0, "end": 6.0, "text": "  "},
            "nonsense",
        ]
    }
    lines = lines_of(reply, PART, TALKED)
    assert [line.text for line in lines] == ["One.", "Late.", "Back.", "Timeless."]
    starts = [line.start for line in lines]
    assert starts == sorted(starts)
    assert starts[0] == 3300.5
    assert all(line.start <= line.end <= PART.end for line in lines)


def test_a_reply_without_times_is_spread_over_its_part_and_says_so() -> None:
    lines = lines_of({"text": "One two. 三四五六。Seven?"}, PART, TALKED)
    assert [line.text for line in lines] == ["One two.", "三四五六。", "Seven?"]
    assert all(line.estimated for line in lines)
    assert (lines[0].start, lines[-1].end) == (3300.0, 3600.0)


def test_words_in_silence_are_marked_and_stay() -> None:
    levels = talk(300, [(10, 20)])
    segments = [
        {"start": 0.0, "end": 2.0, "text": "Thank you."},
        {"start": 12.0, "end": 14.0, "text": "Thank you."},
        {"start": 25.0, "end": 27.0, "text": "Subtitles by the Amara.org community"},
        {"start": 30.0, "end": 32.0, "text": "Thanks for watching!", "no_speech_prob": 0.9},
    ]
    lines = lines_of({"segments": segments}, PART, levels)
    marks = [line.mark for line in lines]
    assert marks == [None, Mark.INVENTED, Mark.INVENTED, Mark.INVENTED]
    assert [line.text for line in evidence(lines)] == ["Thank you."]


def test_loops_are_marked_but_for_the_first_line_and_honest_repetitions_are_not() -> None:
    said = ["Yes.", "Yes.", "No, no, no.", *["So we go on."] * 4, "a b " * 9, "是的" * 9, "Done."]
    segments = [{"start": n, "end": n + 1, "text": text} for n, text in enumerate(said)]
    marks = [line.mark for line in lines_of({"segments": segments}, PART, TALKED)]
    loop = Mark.LOOP
    assert marks == [None, None, None, None, loop, loop, loop, loop, loop, None]


@pytest.mark.parametrize(
    "reply",
    [
        {"text": "!" * 60_000 + "x"},
        {"text": "\u3002" * 60_000 + "x"},
        {"segments": [{"text": "hm", "start": 1, "end": 2}] * 3_000},
    ],
    ids=["marks", "wide marks", "one line"],
)
def test_a_recogniser_that_repeats_itself_does_not_keep_the_process(
    reply: dict[str, object],
) -> None:
    """Each was quadratic: minutes in which no run of the worker goes on."""
    before = time.process_time()
    assert lines_of(reply, Span(start=0, end=300), [LOUD] * 6000)
    assert time.process_time() - before < 5


def test_sentences_end_at_their_marks_and_nowhere_else() -> None:
    text = "We ship 3.5 tons!! Who pays? \u4f60\u597d\u3002\u597d\u5417\uff1f\uff01 See a.b ok."
    lines = lines_of({"text": text}, Span(start=0, end=10), [LOUD] * 200)
    assert [line.text for line in lines] == [
        "We ship 3.5 tons!!",
        "Who pays?",
        "\u4f60\u597d\u3002",
        "\u597d\u5417\uff1f\uff01",
        "See a.b ok.",
    ]
