"""The launcher and the making of the environment, as far as no package is installed for it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from deploy.local import environment
from deploy.local.environment import Impossible, check_platform
from deploy.local.options import ROOT


def run(launcher: Path, *words: str, path: str | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(launcher), *words],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PATH": path or os.environ["PATH"]},
    )


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A launcher whose environment is current; its `python` only says how it was called."""
    root = tmp_path / "a checkout"
    (root / ".venv" / "bin").mkdir(parents=True)
    shutil.copy(ROOT / "redraft", root / "redraft")
    (root / "uv.lock").write_text("lock")
    (root / ".venv" / "redraft.lock").write_text("lock")
    python = root / ".venv" / "bin" / "python"
    python.write_text('#!/bin/sh\necho "$PYTHONPATH" "$PWD"; for w in "$@"; do echo "[$w]"; done\n')
    python.chmod(0o755)
    return root


def test_launcher_lists_itself_and_refuses_unknown_commands(checkout: Path) -> None:
    shutil.rmtree(checkout / ".venv")
    for words in ([], ["--help"]):
        shown = run(checkout / "redraft", *words)
        assert shown.returncode == 0
        assert "up " in shown.stdout
    assert run(checkout / "redraft", "fly").returncode == 2
    assert not (checkout / ".venv").exists()


def test_help_is_read_without_making_the_environment(checkout: Path) -> None:
    shutil.rmtree(checkout / ".venv")
    (checkout / "deploy").symlink_to(ROOT / "deploy")
    for words, told in ((["up", "--help"], "--data-dir"), (["submit", "-h"], "submit FILE")):
        shown = run(checkout / "redraft", *words)
        assert shown.returncode == 0, shown.stderr
        assert told in shown.stdout
    assert not (checkout / ".venv").exists()


def test_launcher_passes_words_unchanged_and_keeps_the_folder(
    checkout: Path, tmp_path: Path
) -> None:
    link = tmp_path / "link"
    link.symlink_to(checkout / "redraft")
    shown = run(link, "submit", "a file.md", "--title", "x  y")
    assert shown.stdout.splitlines() == [
        f"{checkout} {os.getcwd()}",
        *("[-P]", "[-m]", "[api.cli]", "[submit]", "[a file.md]", "[--title]", "[x  y]"),
    ]


def test_launcher_says_which_python_is_needed(checkout: Path, tmp_path: Path) -> None:
    (checkout / "uv.lock").write_text("another lock")
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in ("cmp", "readlink", "uname"):
        (programs / name).symlink_to(shutil.which(name) or name)
    for name in ("python3", "python3.11", "python3.12", "python3.13"):
        (programs / name).write_text(
            '#!/bin/sh\n[ "$1" = --version ] && echo Python 3.9 || exit 4\n'
        )
        (programs / name).chmod(0o755)
    shown = run(checkout / "redraft", "up", path=str(programs))
    assert shown.returncode == 1
    assert "Python 3.11, 3.12 or 3.13 is needed" in shown.stderr
    assert "Python 3.9" in shown.stderr


def test_speech_recognition_is_installed_by_the_flag_alone(checkout: Path, tmp_path: Path) -> None:
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in ("cmp", "readlink", "uname", "sh"):
        (programs / name).symlink_to(shutil.which(name) or name)
    (programs / "python3").write_text('#!/bin/sh\n[ "$1" = -I ] && echo "made: $*" >&2; exit 0\n')
    (programs / "python3").chmod(0o755)
    assert run(checkout / "redraft", "up", path=str(programs)).stderr == ""
    assert run(checkout / "redraft", "submit", "--speech", path=str(programs)).stderr == ""
    shown = run(checkout / "redraft", "up", "--speech", path=str(programs))
    assert shown.stderr.rstrip().endswith("--speech")
    assert "[--speech]" in shown.stdout
    (checkout / ".venv" / "lib" / "python3.11" / "site-packages" / "faster_whisper").mkdir(
        parents=True
    )
    assert run(checkout / "redraft", "up", "--speech", path=str(programs)).stderr == ""
    assert environment.has_speech(checkout)


def test_a_long_installation_shows_that_it_works(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [sys.executable, "-c", "import time, sys; time.sleep(0.1); sys.exit(3)"]
    assert environment._run(words, tmp_path, os.environ, every=0.03) == 3
    assert "still downloading and installing (0 s)" in capsys.readouterr().err


def test_platforms_without_packages_are_named() -> None:
    check_platform("linux", "x86_64", ("glibc", "2.36"), musl=False)
    check_platform("darwin", "arm64", ("", ""), musl=False)
    for sentence, arguments in {
        "Alpine": ("linux", "x86_64", ("", ""), True),
        "WSL": ("win32", "AMD64", ("", ""), False),
        "riscv64": ("linux", "riscv64", ("glibc", "2.36"), False),
        "too old": ("linux", "x86_64", ("glibc", "2.17"), False),
    }.items():
        with pytest.raises(Impossible, match=sentence):
            check_platform(*arguments)


def test_python_without_venv_module_is_told_what_to_install(tmp_path: Path) -> None:
    """A Python that has neither venv nor pip, played by a wrapper around this one."""
    (tmp_path / "deploy" / "local").mkdir(parents=True)
    (tmp_path / "uv.lock").write_text("lock")
    script = Path(environment.__file__)
    hidden = tmp_path / "python"
    hidden.write_text(
        "#!/bin/sh\n"
        'case "$*" in *" venv "*|*" pip "*) echo "No module named ensurepip" >&2; exit 1;; esac\n'
        f'exec {sys.executable} "$@"\n'
    )
    hidden.chmod(0o755)
    shown = subprocess.run(
        [
            sys.executable,
            "-c",
            "import runpy, sys; sys.executable = sys.argv[1]; sys.argv = sys.argv[2:];"
            "runpy.run_path(sys.argv[0], run_name='__main__')",
            str(hidden),
            str(script),
            str(tmp_path),
        ],
        capture_output=True,
        text=True,
        check=False,
        env={"PATH": "/nowhere"},
    )
    assert shown.returncode == 1
    assert "apt install python3-venv" in shown.stderr
    assert not (tmp_path / ".venv" / "redraft.lock").exists()
