"""The lock fits the project, and the requirements for pip are the lock in pip's words."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from tests.architecture.sources import ROOT

LOCK, PROJECT = "uv.lock", "pyproject.toml"
REQUIREMENTS, WITH_SPEECH = "deploy/requirements.txt", "deploy/requirements-speech.txt"
_PUBLIC = ("py" + "pi.org", "files.python" + "hosted.org")
_LINE = re.compile(r"^(?P<name>[A-Za-z0-9._-]+)==(?P<version>[^\s;\\]+)\s*(?:;(?P<marker>[^\\]*))?")
_HASH = re.compile(r"--hash=(sha256:[0-9a-f]{64})")
_REQUIREMENT = re.compile(r"^\s*([A-Za-z0-9._-]+)(?:\[[^\]]*\])?\s*([^;]*)")

Pinned = dict[tuple[str, str], frozenset[str]]


def problems() -> list[str]:
    lock = tomllib.loads((ROOT / LOCK).read_text(encoding="utf-8"))
    project = tomllib.loads((ROOT / PROJECT).read_text(encoding="utf-8"))
    found = [*_fits(lock, project), *_only_public(lock)]
    plain = _plain(lock)
    for file, names in ((REQUIREMENTS, plain), (WITH_SPEECH, None)):
        if not (ROOT / file).exists():
            found.append(f"{file} is missing: uv export")
            continue
        text = (ROOT / file).read_text(encoding="utf-8")
        locked = {k: v for k, v in _of_lock(lock).items() if names is None or k[0] in names}
        found += differences(locked, of_requirements(text), file)
    return found


def _plain(lock: Mapping[str, Any]) -> frozenset[str]:
    """What is needed without the project's own extras, by name."""
    packages: dict[str, list[Mapping[str, Any]]] = {}
    for package in lock["package"]:
        packages.setdefault(_name(package["name"]), []).append(package)
    own = next(p for p in lock["package"] if "registry" not in p["source"])
    wanted = [*own.get("dependencies", [])]
    wanted += [one for group in own.get("dev-dependencies", {}).values() for one in group]
    seen: set[tuple[str, str]] = set()
    while wanted:
        one = wanted.pop()
        for extra in ("", *one.get("extra", [])):
            if (key := (_name(one["name"]), extra)) not in seen:
                seen.add(key)
                for package in packages.get(key[0], []):
                    optional = package.get("optional-dependencies", {})
                    wanted += optional.get(extra, []) if extra else package.get("dependencies", [])
    return frozenset(name for name, _ in seen)


def _name(text: str) -> str:
    return re.sub(r"[-_.]+", "-", text).lower()


def _wanted(lines: list[str]) -> set[tuple[str, str]]:
    matches = (_REQUIREMENT.match(line) for line in lines)
    return {(_name(m[1]), "".join(m[2].split())) for m in matches if m}


def _locked(entries: list[Mapping[str, Any]]) -> set[tuple[str, str]]:
    return {(_name(e["name"]), "".join(e.get("specifier", "").split())) for e in entries}


def _fits(lock: Mapping[str, Any], project: Mapping[str, Any]) -> list[str]:
    """What pyproject.toml asks for is what the lock was made for."""
    name = _name(project["project"]["name"])
    own = next(p for p in lock["package"] if _name(p["name"]) == name)
    extras = project["project"].get("optional-dependencies", {})
    direct = [*project["project"]["dependencies"], *(one for e in extras.values() for one in e)]
    pairs = [(direct, own["metadata"].get("requires-dist", []))]
    groups = project.get("dependency-groups", {})
    locked_groups = own["metadata"].get("requires-dev", {})
    pairs += [
        (groups.get(key, []), locked_groups.get(key, [])) for key in {*groups, *locked_groups}
    ]
    found = []
    for wanted, locked in pairs:
        difference = _wanted(wanted) ^ _locked(locked)
        found += [f"{LOCK} does not fit {PROJECT}: {n} {s}" for n, s in sorted(difference)]
    return found


def _only_public(lock: Mapping[str, Any]) -> list[str]:
    found = set()
    for package in lock["package"]:
        addresses = [package["source"].get("registry", "")]
        addresses += [wheel.get("url", "") for wheel in package.get("wheels", [])]
        addresses.append(package.get("sdist", {}).get("url", ""))
        for address in filter(None, addresses):
            host = urlsplit(address).hostname
            if host not in _PUBLIC:
                found.add(f"{LOCK}: {package['name']} comes from another index than the public one")
    return sorted(found)


def _of_lock(lock: Mapping[str, Any]) -> Pinned:
    pinned: Pinned = {}
    for package in lock["package"]:
        if "registry" not in package["source"]:
            continue
        files = [*package.get("wheels", []), *([package["sdist"]] if "sdist" in package else [])]
        key = (_name(package["name"]), str(package["version"]))
        pinned[key] = frozenset(str(file["hash"]) for file in files)
    return pinned


def of_requirements(text: str) -> Pinned:
    pinned: Pinned = {}
    for line in text.replace("\\\n", " ").splitlines():
        if match := _LINE.match(line.strip()):
            key = (_name(match["name"]), match["version"])
            pinned[key] = frozenset(_HASH.findall(line))
    return pinned


def differences(locked: Pinned, required: Pinned, file: str = REQUIREMENTS) -> list[str]:
    found = [f"{file}: {n}=={v} is missing" for n, v in sorted(locked.keys() - required)]
    found += [f"{file}: {n}=={v} is not locked" for n, v in sorted(required.keys() - locked)]
    for key in sorted(locked.keys() & required.keys()):
        if locked[key] != required[key]:
            found.append(f"{file}: {key[0]}: the hashes are not those of {LOCK}")
    return found
