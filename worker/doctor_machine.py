"""The doctor's look at this machine: Python, C library, processor, disk, the stack's variables."""

from __future__ import annotations

import fcntl
import os
import platform
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

from deploy.settings import default_root, stack_variables
from worker.doctor_findings import Finding, fail, ok, warn

NEEDED_FLAGS = ("avx2", "fma", "bmi2")
_GIB = 1024**3
LITTLE_DISK, NO_DISK = 2 * _GIB, _GIB // 4


def data_directory(environment: Mapping[str, str], given: str | None = None) -> Path:
    """Where `./redraft up` keeps its data unless told otherwise."""
    return Path(given) if given else default_root(environment)


def joined_environment(environment: Mapping[str, str], data: Path) -> dict[str, str]:
    """The environment, completed by the stack's `env` file unless a database is named already."""
    if environment.get("REDRAFT_DATABASE_URL"):
        return dict(environment)
    return {**stack_variables(data), **environment}


def check_stack(environment: Mapping[str, str], data: Path) -> list[Finding]:
    """Whether a stack is up over `data`; nothing where the variables name a database."""
    if environment.get("REDRAFT_DATABASE_URL"):
        return []
    if (data / "env").exists() and _is_held(data / "lock"):
        return [ok("stack", f"up over {data}")]
    usual = data_directory({**environment, "REDRAFT_DATA_DIR": ""})
    default = "the default data folder " if data == usual else ""
    return [
        fail(
            "stack",
            f"no stack is up over {default}{data}",
            "start it with ./redraft up, name the folder of one that is up with --data-dir DIR, "
            f"or set REDRAFT_DATABASE_URL{_elsewhere(environment)}",
        )
    ]


def _elsewhere(environment: Mapping[str, str]) -> str:
    """An address says nothing of the folder behind it, which may be on another machine."""
    url = environment.get("REDRAFT_URL", "")
    return f"; REDRAFT_URL ({url}) does not say which folder that is" if url else ""


def _is_held(lock: Path) -> bool:
    """Whether a living process holds the data folder, as `up` does."""
    try:
        with lock.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


def check_machine(data: Path) -> list[Finding]:
    return [check_python(sys.version_info[:3]), check_libc(), check_processor(), check_disk(data)]


def check_python(version: tuple[int, int, int]) -> Finding:
    text = "Python " + ".".join(map(str, version))
    if (3, 11) <= version[:2] < (3, 14):
        return ok("python", text)
    return fail("python", text, "install Python 3.11, 3.12 or 3.13 and delete .venv")


def check_libc(name: str | None = None) -> Finding:
    """The wheels of the embedded Postgres are for glibc."""
    system = platform.system()
    if system == "Darwin":
        return ok("system", f"macOS {platform.machine()}")
    if system != "Linux":
        return fail("system", system, "use Linux, macOS, or WSL 2 on Windows")
    library = platform.libc_ver()[0] if name is None else name
    if library == "glibc":
        return ok("system", f"Linux {platform.machine()}, glibc {platform.libc_ver()[1]}")
    return warn(
        "system",
        "no glibc (Alpine?): the embedded Postgres cannot run here",
        "give a database: ./redraft up --database-url postgresql://…",
    )


def check_processor(info: str | None = None) -> Finding:
    """Flags that a local model server is compiled for; nothing else needs them."""
    if platform.machine() not in ("x86_64", "AMD64"):
        return ok("processor", platform.machine())
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8") if info is None else info
    except OSError:
        return ok("processor", f"{platform.machine()}, flags unknown")
    flags = next((line for line in text.splitlines() if line.startswith("flags")), "").split()
    missing = [flag for flag in NEEDED_FLAGS if flag not in flags]
    if not missing:
        return ok("processor", f"{os.cpu_count()} processors with {', '.join(NEEDED_FLAGS)}")
    return warn(
        "processor",
        f"without {', '.join(missing)}",
        "a local model server will not run here; the offline model and remote ones do",
    )


def check_disk(data: Path) -> Finding:
    """The free space where the data lies, or would lie."""
    place = next(folder for folder in (data, *data.absolute().parents) if folder.exists())
    free = shutil.disk_usage(place).free
    text = f"{free / _GIB:.1f} GiB free for {data}"
    if free < NO_DISK:
        return fail("disk", text, "make room, or name another folder with --data-dir")
    if free < LITTLE_DISK:
        return warn("disk", text, "a busy database needs more; make room soon")
    return ok("disk", text)
