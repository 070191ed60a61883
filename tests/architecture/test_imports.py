"""Imports go one way, and the names of the folders are nobody else's."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.metadata import packages_distributions
from pathlib import Path

from tests.architecture.sources import ROOT, SOURCE_FOLDERS, tracked

LINTER = str(Path(sys.executable).parent / "lint-imports")


def test_imports_go_one_way() -> None:
    done = subprocess.run(
        [LINTER],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_no_installed_package_and_no_standard_module_has_the_name_of_a_folder() -> None:
    taken = set(packages_distributions()) | set(sys.stdlib_module_names)
    assert taken & set(SOURCE_FOLDERS) == set()


def test_there_is_no_other_source_folder() -> None:
    folders = {name.split("/", 1)[0] for name in tracked() if name.endswith(".py") and "/" in name}
    assert folders <= set(SOURCE_FOLDERS)


def test_every_folder_says_what_it_is_for() -> None:
    for folder in SOURCE_FOLDERS:
        first = (ROOT / folder / "__init__.py").read_text(encoding="utf-8")
        assert first.startswith('"""'), folder
