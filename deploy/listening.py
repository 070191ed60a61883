"""Decodes a recording in an own process: its levels, or parts of it as small WAV files.

`python -m deploy.listening levels FILE` writes one byte for each twentieth of a second;
`… parts FILE START-END …` (milliseconds) writes each part, and then its levels, after its length.
Time is counted in
samples, gaps in the recording are filled, so nothing drifts; a seek would, in many formats.
"""

from __future__ import annotations

import array
import contextlib
import io
import os
import resource
import sys
import wave
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, BinaryIO

from deploy.sound import FORMATS, MEMORY_BYTES, SILENT_LEVEL

if TYPE_CHECKING:
    from av.audio.frame import AudioFrame
    from av.audio.resampler import AudioResampler
    from av.audio.stream import AudioStream
    from av.container import InputContainer

RATE = 16_000
BLOCK = RATE // 20
_GAP = RATE // 4
"""Samples by which a frame must be late before silence is put in."""
_SILENCE = bytes(2 * BLOCK)
_LONGEST_GAP = 4 * 3600 * RATE


def decoded(path: str) -> Iterator[bytes]:
    """16-bit mono at 16 kHz. What cannot be decoded in the middle is skipped, its time stays."""
    import av

    options = {"format_whitelist": FORMATS, "protocol_whitelist": "file"}
    with av.open(f"file:{path}", options=options) as container:
        stream = container.streams.audio[0]
        resampler, frames = _resampler(), av.AudioFifo()
        first, taken = None, 0
        for frame in _frames(container, stream):
            if frame.time is not None:
                first = frame.time if first is None else first
                late = int((frame.time - first) * RATE) - taken
                if _GAP < late < _LONGEST_GAP:
                    yield from _resampled(resampler, frames.read())
                    yield bytes(2 * late)
                    taken += late
            taken += frame.samples * RATE // frame.sample_rate
            frame.pts = None  # gaps are filled above
            try:
                frames.write(frame)
            except ValueError:  # from here on in another form
                yield from _resampled(resampler, frames.read())
                resampler, frames = _resampler(), av.AudioFifo()
                frames.write(frame)
            if frames.samples >= frame.sample_rate:  # one by one they would cost more than decoding
                yield from _resampled(resampler, frames.read())
        yield from _resampled(resampler, frames.read())


def _resampler() -> AudioResampler:
    import av

    return av.AudioResampler(format="s16", layout="mono", rate=RATE)


def _frames(container: InputContainer, stream: AudioStream) -> Iterator[AudioFrame]:
    from av import FFmpegError

    for packet in container.demux(stream):
        with contextlib.suppress(FFmpegError):
            yield from packet.decode()


def _resampled(resampler: AudioResampler, frame: AudioFrame | None) -> Iterator[bytes]:
    for piece in resampler.resample(frame) if frame is not None else ():
        yield bytes(piece.planes[0])[: 2 * piece.samples]


def levels(path: str) -> Iterator[bytes]:
    """The loudest sample of each block, 0 to 255."""
    return levels_of(decoded(path))


def levels_of(samples: Iterable[bytes]) -> Iterator[bytes]:
    rest = b""
    for data in samples:
        rest += data
        whole = len(rest) - len(rest) % (2 * BLOCK)
        if whole:
            yield bytes(_level(rest[at : at + 2 * BLOCK]) for at in range(0, whole, 2 * BLOCK))
            rest = rest[whole:]
    if rest:
        yield bytes([_level(rest)])


def _level(block: bytes) -> int:
    if block == _SILENCE:
        return 0
    numbers = array.array("h", block)[::8]  # a sound is louder than silence at each of them
    loudest, lowest = max(numbers), min(numbers)
    return min(255, max(loudest, -lowest) >> 7)


def parts(path: str, spans: Sequence[tuple[int, int]]) -> Iterator[tuple[bytes, bytes]]:
    """WAV files of the spans (milliseconds, in order) with their levels, each as soon as it is
    decoded; empty ones of silence."""
    bounds = [(start * RATE // 1000, end * RATE // 1000) for start, end in spans]
    kept, at = bytearray(), 0
    source = decoded(path)
    for start, end in bounds:
        while at < end and (data := next(source, None)) is not None:
            kept += data
            at += len(data) // 2
            if at <= start:
                kept.clear()
        held = at - len(kept) // 2
        samples = bytes(kept[2 * max(0, start - held) : 2 * max(0, end - held)])
        found = b"".join(levels_of([samples]))
        yield _wav(samples) if max(found, default=0) > SILENT_LEVEL else b"", found
        del kept[: 2 * max(0, end - held)]


def _wav(data: bytes) -> bytes:
    out = io.BytesIO()
    with wave.open(out, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE)
        file.writeframes(data)
    return out.getvalue()


def bound() -> None:
    """The child may not eat the machine, and gives way to whoever serves people."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with contextlib.suppress(OSError):
        os.nice(5)


def main(words: Sequence[str], out: BinaryIO) -> int:
    bound()
    what, path, *spans = words
    if what == "levels":
        for piece in levels(path):
            out.write(piece)
    else:
        pairs = [tuple(map(int, span.split("-"))) for span in spans]
        for both in parts(path, [(start, end) for start, end in pairs]):
            for piece in both:
                out.write(len(piece).to_bytes(4, "big") + piece)
            out.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], sys.stdout.buffer))
