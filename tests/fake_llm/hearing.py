"""A child of the recogniser that hears without a model: it says how long the sound is, and is
busy for ever with sound that begins with `stand`."""

from __future__ import annotations

import json
import sys


def main() -> int:
    out, given = sys.stdout.buffer, sys.stdin.buffer
    told: dict[str, object] = {"multilingual": False}
    while True:
        out.write(json.dumps(told).encode() + b"\n")
        out.flush()
        head = given.read(16)
        if len(head) < 16:
            return 0
        wav = given.read(int.from_bytes(head[:8], "big"))
        while wav.startswith(b"stand"):
            pass
        segment = {"start": 0.0, "end": 1.0, "text": f" {len(wav)} bytes."}
        told = {"text": f"{len(wav)} bytes.", "segments": [segment]}
        if wav.startswith(b"noise"):
            told = {"error": "ValueError"}


if __name__ == "__main__":
    sys.exit(main())
