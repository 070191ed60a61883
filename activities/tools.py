"""What activities are given once per process: pools, settings, kinds, the model client.

Captured on the activity instances; never travels in an input.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from activities.owning.death import Witness
from activities.owning.presence import Presence
from activities.owning.watch import InFlight
from deploy.database import Pool
from deploy.settings import Settings
from workflows.kinds.kind import Kind

if TYPE_CHECKING:
    from activities.model.client import ModelClient

TURNS = 4
"""So many steps at once do what is not yet paid or already stored: reading, cutting, claiming,
wording a request, judging a result. A busy worker thus lets work wait before its request, not a
reply before its commit, where a dead worker loses it."""


@dataclass(kw_only=True)
class Tools:
    """`searchable`: the namespace knows our search attributes (found out at start)."""

    settings: Settings
    pool: Pool
    kinds: dict[str, Kind]
    model: ModelClient
    presence: Presence
    witness: Witness
    in_flight: InFlight = field(default_factory=InFlight)
    turns: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(TURNS))
    """Never held over a request, a wait or another turn; storing what came in needs none."""
    searchable: bool = False
    suspects: set[str] = field(default_factory=set)
    """Runs whose execution may have been ended from outside; the sweep looks at them at once."""
    unreleased: set[str] = field(default_factory=set)
    """Runs that an attempt of this process has not given up yet (`activities.owning.ownership`)."""

    @property
    def worker(self) -> str:
        """This process's id as rows name it."""
        return str(self.presence.identity)
