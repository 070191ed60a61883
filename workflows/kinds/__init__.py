"""Kinds of document by name. Adding a kind is adding a folder."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from pathlib import Path

from workflows.kinds.kind import Kind
from workflows.kinds.templates import DraftsByTemplates, LeaveOut

BUILT_IN = ("minutes", "itinerary", "text")


class UnknownKind(Exception):
    """No kind of this name is installed; `known` lists those that are."""

    def __init__(self, name: str, known: tuple[str, ...]) -> None:
        super().__init__(f"no kind {name!r}; known: {', '.join(known)}")
        self.name, self.known = name, known


def from_folder(folder: Path) -> Kind:
    """The kind in a folder, with the modules of that folder: they import each other relatively, so
    a copy is a kind of its own. Raises ImportError, or what its code raises."""
    module_name = f"redraft_kind_{folder.name}"
    for known in [name for name in sys.modules if name.partition(".")[0] == module_name]:
        del sys.modules[known]  # of another folder of that name
    spec = importlib.util.spec_from_file_location(
        module_name, folder / "__init__.py", submodule_search_locations=[str(folder)]
    )
    if spec is None or spec.loader is None:
        raise ImportError(f"{folder}: no __init__.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[module_name] = module
    spec.loader.exec_module(module)
    kind: Kind = module.KIND
    return kind


def load_kinds(
    extra_folder: str = "", templates_folder: str = "", leave_out: LeaveOut | None = None
) -> dict[str, Kind]:
    """All kinds by name: the built-in ones, then the folders in `extra_folder`; those that draft by
    templates have those of `templates_folder` too.

    Raises ImportError with the name of a folder that cannot be loaded, BadTemplate with a file's,
    unless somebody is told of what is left out.
    """
    kinds: dict[str, Kind] = {}
    here = Path(__file__).parent
    for name in BUILT_IN:
        if (here / name / "__init__.py").exists():
            kind: Kind = importlib.import_module(f"workflows.kinds.{name}").KIND
            kinds[kind.name] = kind
    if extra_folder:
        for folder in sorted(Path(extra_folder).iterdir()):
            if (folder / "__init__.py").exists():
                kind = from_folder(folder)
                kinds[kind.name] = kind
    return _with_templates(kinds, templates_folder, leave_out) if templates_folder else kinds


def _with_templates(
    kinds: dict[str, Kind], folder: str, leave_out: LeaveOut | None
) -> dict[str, Kind]:
    return {
        name: kind.with_templates(Path(folder), leave_out)
        if isinstance(kind, DraftsByTemplates)
        else kind
        for name, kind in kinds.items()
    }


def find(kinds: dict[str, Kind], name: str) -> Kind:
    """Raises UnknownKind."""
    try:
        return kinds[name]
    except KeyError:
        raise UnknownKind(name, tuple(kinds)) from None
