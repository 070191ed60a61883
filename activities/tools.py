"""What activities are given once per process: pools, settings, kinds, the model client.

Captured on the activity instances; never travels in an input.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from activities.death import Witness
from activities.presence import Presence
from activities.watch import InFlight
from deploy.database import Pool
from deploy.settings import Settings
from workflows.kinds.kind import Kind

if TYPE_CHECKING:
    from activities.model.client import ModelClient


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
    searchable: bool = False
    suspects: set[str] = field(default_factory=set)
    """Runs whose execution may have been ended from outside; the sweep looks at them at once."""

    @property
    def worker(self) -> str:
        """This process's id as rows name it."""
        return str(self.presence.identity)
