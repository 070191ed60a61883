"""The rules of the code base hold, and the checks that say so can see a violation."""

from __future__ import annotations

import pytest

from tests.architecture import lock, sizes, sql_placement, wording


def test_files_and_functions_are_small_enough_to_be_read_whole() -> None:
    assert sizes.problems() == []


def test_sql_stands_where_it_may() -> None:
    assert sql_placement.problems() == []


def test_no_tracked_file_names_a_machine_or_a_package_host() -> None:
    assert wording.problems() == []


def test_lock_project_and_requirements_are_one() -> None:
    assert lock.problems() == []


@pytest.mark.parametrize(
    ("name", "source", "fault"),
    [
        (
            "api/runs.py",
            "from fastapi import APIRouter\ndef f(): return 'SELECT id FROM runs'",
            "beside",
        ),
        ("api/queries/x.py", "S = 'SELECT id FROM runs'", "outside its function"),
        ("api/queries/x.py", "def f(): return 'SELECT * FROM runs'", "never *"),
        ("api/queries/x.py", "def f(): return 'SELECT r.* FROM runs r'", "never *"),
        ("api/queries/x.py", "def f(): return 'DELETE FROM runs WHERE id = $1'", "writes"),
        ("worker/x.py", "def f(): return '''\nUPDATE workers SET seen_at = now()'''", "writes"),
        (
            "activities/x.py",
            "def f(): return f'UPDATE runs SET {x} = 1, status = $2 WHERE id = $1'",
            "moves the status",
        ),
        ("workflows/x.py", "def f(): return 'SELECT id FROM runs'", "never ask a database"),
    ],
)
def test_a_statement_in_the_wrong_place_is_seen(name: str, source: str, fault: str) -> None:
    assert any(fault in found for found in sql_placement.faults_of(name, source))


@pytest.mark.parametrize(
    "source",
    [
        "def f(): return 'SELECT count(*) FROM runs'",
        "def f(): return 'UPDATE runs SET retry_at = now() WHERE id = $1 AND status = $2'",
        "def f(): return 'select one of the profiles'",
        "def f(): return 'SELECT a * b FROM rate_buckets'",
    ],
)
def test_a_statement_in_its_place_is_left_alone(source: str) -> None:
    assert sql_placement.faults_of("activities/x.py", source) == []


def test_requirements_with_another_hash_are_seen() -> None:
    name, version = "thing", "1.0"
    locked = {(name, version): frozenset({"sha256:" + "a" * 64})}
    text = f"thing==1.0 ; sys_platform == 'linux' \\\n    --hash=sha256:{'b' * 64}\n"
    assert lock.differences(locked, lock.of_requirements(text)) != []
    assert lock.differences(locked, lock.of_requirements(text.replace("b", "a"))) == []
    assert lock.differences(locked, {}) != []
