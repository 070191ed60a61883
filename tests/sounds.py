"""Recordings made for tests: tones and silence, in any format that the decoder can write."""

from __future__ import annotations

import array
import io
import math
import struct
import wave
from collections.abc import Sequence
from fractions import Fraction

import av

RATE = 16_000


def samples(stretches: Sequence[tuple[float, bool]], *, rate: int = RATE) -> array.array[int]:
    """Stretches of (seconds, heard): a tone of 220 Hz, or silence."""
    found = array.array("h")
    for seconds, heard in stretches:
        count = int(seconds * rate)
        if not heard:
            found.frombytes(bytes(2 * count))
            continue
        second = array.array(
            "h", (int(9000 * math.sin(2 * math.pi * 220 * n / rate)) for n in range(rate))
        )
        while count > 0:
            found.extend(second[:count])
            count -= rate
    return found


def wav(stretches: Sequence[tuple[float, bool]], *, rate: int = RATE) -> bytes:
    """16-bit mono."""
    out = io.BytesIO()
    with wave.open(out, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(samples(stretches, rate=rate).tobytes())
    return out.getvalue()


def float_wav(seconds: float, *, rate: int = 24_000) -> bytes:
    """32-bit float stereo, which `wave` cannot write."""
    tone = samples([(seconds, True)], rate=rate)
    data = b"".join(struct.pack("<ff", value / 32768, value / 32768) for value in tone)
    form = struct.pack("<HHIIHH", 3, 2, rate, rate * 8, 8, 32)
    body = b"WAVEfmt " + struct.pack("<I", len(form)) + form
    body += b"data" + struct.pack("<I", len(data)) + data
    return b"RIFF" + struct.pack("<I", len(body)) + body


def encoded(seconds: float, container: str, codec: str, *, rate: int = 48_000) -> bytes:
    """A tone, for example ("ogg", "libopus"), ("mp4", "aac"), ("webm", "libopus")."""
    out = io.BytesIO()
    with av.open(out, "w", format=container) as file:
        stream = file.add_stream(codec, rate=rate)
        assert isinstance(stream, av.AudioStream)
        stream.layout = "mono"
        tone, step = samples([(seconds, True)], rate=rate), 960
        for start in range(0, len(tone), step):
            block = tone[start : start + step]
            frame = av.AudioFrame(format="s16", layout="mono", samples=len(block))
            frame.planes[0].update(block.tobytes().ljust(frame.planes[0].buffer_size, b"\0"))
            frame.sample_rate, frame.pts = rate, start
            frame.time_base = Fraction(1, rate)
            file.mux(stream.encode(frame))
        file.mux(stream.encode(None))
    return out.getvalue()


def silent_video(frames: int = 5) -> bytes:
    """An mp4 with pictures and no sound."""
    out = io.BytesIO()
    with av.open(out, "w", format="mp4") as file:
        stream = file.add_stream("mpeg4", rate=5)
        assert isinstance(stream, av.VideoStream)
        stream.width, stream.height, stream.pix_fmt = 32, 32, "yuv420p"
        for number in range(frames):
            frame = av.VideoFrame(32, 32, "yuv420p")
            for plane in frame.planes:
                plane.update(bytes(plane.buffer_size))
            frame.pts = number
            file.mux(stream.encode(frame))
        file.mux(stream.encode(None))
    return out.getvalue()
