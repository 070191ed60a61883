"""What a recording holds, asked in an own process: `python -m deploy.sound FILE`.

Files come from strangers and decoders are large: one that crashes, hangs or eats memory ends only
the child. Formats are a closed list and nothing but the file is opened (playlists name others).
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import resource
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from av.audio.stream import AudioStream
    from av.container import InputContainer

MAX_SECONDS = 4 * 3600
"""Longest recording."""
MIN_SECONDS = 0.3
"""A shorter one holds no word."""
SILENT_LEVEL = 2
"""Of 255: a recording that is never louder than a hundredth of full scale holds no word."""
PROBE_SECONDS = 60.0
MEMORY_BYTES = 2_000_000_000
FORMATS = "wav,mp3,mov,mp4,m4a,matroska,webm,ogg,flac,aac"
_ROOT = Path(__file__).resolve().parent.parent
_FIRST_FRAMES, _FIRST_PACKETS = 5, 100
_MEDIA_TYPES = {
    "wav": "audio/wav",
    "mp3": "audio/mpeg",
    "mov": "audio/mp4",
    "matroska": "audio/webm",
    "ogg": "audio/ogg",
    "flac": "audio/flac",
    "aac": "audio/aac",
}


@dataclass(frozen=True, kw_only=True)
class Sound:
    """What was found. `problem` is None or a word of `PROBLEMS`; then the rest says nothing."""

    problem: str | None = None
    media_type: str = ""
    seconds: float = 0.0
    rate: int = 0
    channels: int = 0


PROBLEMS = {
    "empty": "the file is empty",
    "not_audio": "this is no recording of a known format (wav, mp3, m4a, ogg, flac, mp4, webm)",
    "no_sound": "this video has no sound",
    "broken": "the recording is broken: its sound cannot be decoded",
    "too_short": f"the recording is shorter than {MIN_SECONDS} seconds",
    "too_long": f"the recording is longer than {MAX_SECONDS // 3600} hours",
    "silent": "nothing is to be heard in this recording",
    "slow": "the recording could not be read in time",
}


async def probe(path: Path) -> Sound:
    """Asks a child process. A crash of it is `broken`, no answer in a minute `slow`."""
    child = await asyncio.create_subprocess_exec(
        sys.executable,
        "-P",
        "-m",
        "deploy.sound",
        str(path),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        cwd=_ROOT,
        env={"PYTHONPATH": str(_ROOT)},
    )
    try:
        async with asyncio.timeout(PROBE_SECONDS):
            said, _ = await child.communicate()
    except TimeoutError:
        return Sound(problem="slow")
    finally:
        if child.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                child.kill()
            await child.wait()
    try:
        return Sound(**json.loads(said))
    except (ValueError, TypeError):
        return Sound(problem="broken")


def look(path: str) -> Sound:
    """In the child. The length is that of the packets: headers of broken or streamed files lie."""
    import av

    if os.path.getsize(path) == 0:
        return Sound(problem="empty")
    options = {"format_whitelist": FORMATS, "protocol_whitelist": "file"}
    try:
        container = av.open(f"file:{path}", options=options)
    except (av.FFmpegError, ValueError):
        return Sound(problem="not_audio")
    with container:
        if not container.streams.audio:
            return Sound(problem="no_sound" if container.streams.video else "not_audio")
        stream = container.streams.audio[0]
        try:
            decoded, seconds = _measure(container, stream)
        except av.FFmpegError:
            return Sound(problem="broken")
        if not decoded or not stream.rate or not stream.channels:
            return Sound(problem="broken")
        if not MIN_SECONDS <= seconds <= MAX_SECONDS:
            return Sound(problem="too_short" if seconds < MIN_SECONDS else "too_long")
        if not _heard(path):
            return Sound(problem="silent")
        return Sound(
            media_type=_MEDIA_TYPES.get(container.format.name.partition(",")[0], "audio/mpeg"),
            seconds=round(seconds, 3),
            rate=stream.rate,
            channels=stream.channels,
        )


def _measure(container: InputContainer, stream: AudioStream) -> tuple[bool, float]:
    """Whether its beginning can be decoded, and the seconds up to the end of the last packet."""
    from av import FFmpegError

    frames, first, last = 0, None, 0.0
    for tried, packet in enumerate(container.demux(stream)):
        if packet.pts is None:
            continue
        if frames < _FIRST_FRAMES and tried < _FIRST_PACKETS:
            with contextlib.suppress(FFmpegError):
                frames += len(packet.decode())
        elif not frames:
            break
        start = float(packet.pts * packet.time_base)
        first = start if first is None else first
        last = max(last, start + float((packet.duration or 0) * packet.time_base) - first)
        if last > MAX_SECONDS:
            break
    return frames > 0, last


def _heard(path: str) -> bool:
    """Whether anything is: the first sound ends the search."""
    from deploy.listening import levels

    return any(max(found) > SILENT_LEVEL for found in levels(path))


def _bound() -> None:
    """The child may not eat the machine."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (int(PROBE_SECONDS), int(PROBE_SECONDS)))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def main(words: list[str]) -> int:
    _bound()
    sys.stdout.write(json.dumps(asdict(look(words[0]))))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
