"""Makes `.venv` from the lock: by uv where there is one, else by pip from hashed requirements.

The extra `speech` is added where it is asked for, and stays.

Run by the launcher with a system Python before anything is installed, so standard library only.
The copy of the lock inside the environment is written last: it is what says "complete".
"""

from __future__ import annotations

import fcntl
import os
import platform
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path


class Impossible(Exception):
    """The environment cannot be made here; the text says what to install or do."""


def main(root: Path, *, speech: bool = False) -> int:
    try:
        check_platform(sys.platform, platform.machine(), platform.libc_ver(), is_musl())
        with (root / "uv.lock").open("rb") as lock:
            # Two first starts at once: the second waits here and finds the work done.
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not is_current(root) or (speech and not has_speech(root)):
                say(
                    "making the environment in .venv, once: downloads a few hundred MB, which "
                    "takes one to five minutes …"
                )
                make(root, speech=speech or has_speech(root))
    except Impossible as error:
        say(str(error))
        return 1
    except OSError as error:
        say(f"{error}. Start as the account that owns {root}, or make a clone of your own.")
        return 1
    except KeyboardInterrupt:
        say("interrupted; the next start goes on with it")
        return 1
    return 0


def say(text: str) -> None:
    sys.stderr.write(f"redraft: {text}\n")
    sys.stderr.flush()


def check_platform(system: str, machine: str, libc: tuple[str, str], musl: bool) -> None:
    """Raises Impossible where there are no wheels for the embedded services."""
    if system not in ("linux", "darwin"):
        raise Impossible("this system is not supported. Linux, macOS, or WSL 2 on Windows is.")
    if machine.lower() not in ("x86_64", "amd64", "aarch64", "arm64"):
        raise Impossible(f"no Postgres or Temporal is packed for {machine} processors.")
    if musl:
        raise Impossible(
            "Alpine (musl) has no package of the embedded Postgres. Use an image with glibc, "
            "such as Debian, or the containers of deploy/compose.yaml."
        )
    if system == "linux" and libc[0] == "glibc" and _numbers(libc[1]) < (2, 28):
        raise Impossible(
            f"glibc {libc[1]} is too old; 2.28 (Debian 10, RHEL 8) or newer is needed."
        )


def is_musl() -> bool:
    return any(Path("/lib").glob("ld-musl-*")) and not platform.libc_ver()[0]


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(".") if part.isdigit())


def is_current(root: Path) -> bool:
    done = root / ".venv" / "redraft.lock"
    return (
        (root / ".venv" / "bin" / "python").exists()
        and done.exists()
        and done.read_bytes() == (root / "uv.lock").read_bytes()
    )


def has_speech(root: Path) -> bool:
    """Whether speech recognition is installed; what was added once stays."""
    return any((root / ".venv").glob("lib/python*/site-packages/faster_whisper"))


def make(root: Path, *, speech: bool = False) -> None:
    """Brings .venv to the lock. Raises Impossible."""
    uv = shutil.which("uv")
    if uv is None or not _by_uv(uv, root, speech=speech):
        _by_pip(root, speech=speech)
    shutil.copyfile(root / "uv.lock", root / ".venv" / "redraft.lock.new")
    (root / ".venv" / "redraft.lock.new").replace(root / ".venv" / "redraft.lock")


def _by_uv(uv: str, root: Path, *, speech: bool) -> bool:
    environment = {**os.environ, "UV_PROJECT_ENVIRONMENT": str(root / ".venv")}
    environment.pop("VIRTUAL_ENV", None)
    words = ["sync", "--frozen", "--quiet", *(["--extra", "speech"] if speech else [])]
    if not (root / ".venv").exists():
        words += ["--python", sys.executable]
    done = _run([uv, *words], root, environment)
    if done != 0:
        say("uv could not do it (above); trying pip")
    return done == 0


def _run(words: list[str], root: Path, environment: Mapping[str, str], every: float = 15.0) -> int:
    """Runs it to its end, which may take minutes, and says every so many seconds that it works."""
    began = time.monotonic()
    with subprocess.Popen(words, cwd=root, env=environment) as process:
        try:
            while True:
                try:
                    return process.wait(every)
                except subprocess.TimeoutExpired:
                    say(f"still downloading and installing ({time.monotonic() - began:.0f} s) …")
        except BaseException:
            process.kill()
            raise


def _by_pip(root: Path, *, speech: bool) -> None:
    python = root / ".venv" / "bin" / "python"
    pip = [str(python), "-m", "pip"]
    installer = pip if _has_pip(python) else _fresh_environment(root)
    requirements = root / "deploy" / f"requirements{'-speech' if speech else ''}.txt"
    words = ["install", "--quiet", "--disable-pip-version-check", "--no-input", "--no-compile"]
    words += ["--require-hashes", "-r", str(requirements)]
    environment = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "PYTHONHOME")}
    # Settings of a person for their own installs, which would make this one fail.
    environment |= {"PIP_USER": "0", "PIP_REQUIRE_VIRTUALENV": "0"}
    if _run([*installer, *words], root, environment) != 0:
        raise Impossible(
            "pip could not install the packages (its words are above). Is the package index "
            "reachable? A mirror is set with PIP_INDEX_URL or pip.conf; start again afterwards."
        )


def _has_pip(python: Path) -> bool:
    if not python.exists():
        return False
    words = [str(python), "-m", "pip", "--version"]
    return subprocess.run(words, capture_output=True, check=False).returncode == 0


def _fresh_environment(root: Path) -> list[str]:
    """Makes an empty .venv and returns the words that run pip on it."""
    target = root / ".venv"
    made = subprocess.run(
        [sys.executable, "-m", "venv", "--clear", str(target)],
        capture_output=True,
        text=True,
        check=False,
    )
    if made.returncode == 0:
        return [str(target / "bin" / "python"), "-m", "pip"]
    if _has_pip(Path(sys.executable)):
        bare = [sys.executable, "-m", "venv", "--clear", "--without-pip", str(target)]
        if subprocess.run(bare, capture_output=True, check=False).returncode == 0:
            return [sys.executable, "-m", "pip", "--python", str(target / "bin" / "python")]
    if "ensurepip" not in made.stdout + made.stderr and "No module named" not in made.stderr:
        raise Impossible(f"{target} cannot be made: {(made.stderr or made.stdout).strip()}")
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    raise Impossible(
        f"this Python {version} comes without the venv module, and there is neither uv nor pip. "
        f"On Debian and Ubuntu: apt install python3-venv (or python{version}-venv). "
        "Elsewhere: install uv."
    )


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), speech="--speech" in sys.argv[2:]))
