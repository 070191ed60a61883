"""The fault kit: real processes, real servers, real signals."""

from tests.faults.kit import network, processes, stores, streams
from tests.faults.kit.checks import (
    PATIENT,
    cut_listeners,
    ended,
    freeze,
    frozen,
    holder,
    issues,
    nothing_repaid,
    own_postgres,
    own_temporal,
    paid,
    planted,
    stored,
    thaw,
    worker_seen,
)
from tests.faults.kit.fault import FAULTS, Fault
from tests.faults.kit.place import Place

__all__ = [
    "FAULTS",
    "PATIENT",
    "Fault",
    "Place",
    "cut_listeners",
    "ended",
    "freeze",
    "frozen",
    "holder",
    "issues",
    "network",
    "nothing_repaid",
    "own_postgres",
    "own_temporal",
    "paid",
    "planted",
    "processes",
    "stored",
    "stores",
    "streams",
    "thaw",
    "worker_seen",
]
