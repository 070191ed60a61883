"""Counters of this process as Prometheus reads them; labels are routes and codes only."""

from __future__ import annotations

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Counter, Histogram
from prometheus_client.exposition import generate_latest

REGISTRY = CollectorRegistry(auto_describe=True)
MEDIA_TYPE = CONTENT_TYPE_LATEST
_REQUESTS = Counter(
    "redraft_api_requests", "Requests answered", ("method", "route", "status"), registry=REGISTRY
)
_SECONDS = Histogram(
    "redraft_api_request_seconds",
    "Time until the answer ended",
    ("method", "route"),
    registry=REGISTRY,
    buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10),
)
_SIGNALS = Counter(
    "redraft_api_signals",
    "Signals to workflows, by how they ended",
    ("outcome",),
    registry=REGISTRY,
)


_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


def observe(method: str, route: str, status: int, seconds: float) -> None:
    """One request; `status` 0 is a client that left before the answer began."""
    method = method if method in _METHODS else "other"
    _REQUESTS.labels(method, route, str(status)).inc()
    _SECONDS.labels(method, route).observe(seconds)


def count_signal(outcome: str) -> None:
    _SIGNALS.labels(outcome).inc()


def render() -> bytes:
    return generate_latest(REGISTRY)
