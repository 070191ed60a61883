"""What a recording holds: formats by content, and each way of not being one by its name."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from deploy.sound import look, probe
from tests import sounds

TALK = [(0.6, True), (0.4, False)]
GOOD = {
    "wav": lambda: sounds.wav(TALK),
    "24 kHz stereo float": lambda: sounds.float_wav(1.0),
    "mp3": lambda: sounds.encoded(1.0, "mp3", "libmp3lame"),
    "m4a": lambda: sounds.encoded(1.0, "mp4", "aac"),
    "ogg": lambda: sounds.encoded(1.0, "ogg", "libopus"),
    "flac": lambda: sounds.encoded(1.0, "flac", "flac"),
    "webm": lambda: sounds.encoded(1.0, "webm", "libopus"),
}
MEDIA_TYPES = ["wav", "wav", "mpeg", "mp4", "ogg", "flac", "webm"]


@pytest.mark.parametrize(("name", "media_type"), list(zip(GOOD, MEDIA_TYPES, strict=True)))
def test_formats_are_known_by_their_content_and_measured(
    tmp_path: Path, name: str, media_type: str
) -> None:
    file = tmp_path / "recording.txt"
    file.write_bytes(GOOD[name]())
    found = look(str(file))
    assert (found.problem, found.media_type) == (None, f"audio/{media_type}")
    assert abs(found.seconds - 1.0) < 0.1


@pytest.mark.parametrize(
    ("problem", "data"),
    [
        ("empty", b""),
        ("not_audio", b"Ana: the box is blue.\n" * 200),
        ("not_audio", b"#EXTM3U\n#EXTINF:9,\nfile:///etc/hostname\n"),
        ("not_audio", bytes(range(256)) * 40),
        ("not_audio", b"RIFF"),
        ("too_short", sounds.wav([(0.01, True)])),
        ("broken", sounds.wav(TALK)[:44]),
        ("no_sound", sounds.silent_video()),
        ("silent", sounds.wav([(1.0, False)])),
    ],
)
def test_what_is_no_recording_is_named(tmp_path: Path, problem: str, data: bytes) -> None:
    file = tmp_path / "a.mp3"
    file.write_bytes(data)
    assert look(str(file)).problem == problem


async def test_a_cut_file_is_as_long_as_what_is_there(tmp_path: Path) -> None:
    """Its header still says two seconds."""
    file = tmp_path / "a"
    file.write_bytes(sounds.wav([(2.0, True)])[:32_044])
    found = await probe(file)
    assert (found.problem, round(found.seconds, 1)) == (None, 1.0)


async def test_a_cancelled_probe_leaves_no_child(tmp_path: Path) -> None:
    file = tmp_path / "a"
    file.write_bytes(sounds.wav(TALK))
    asking = asyncio.create_task(probe(file))
    await asyncio.sleep(0)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
