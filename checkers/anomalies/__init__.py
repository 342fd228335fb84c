"""Anomalies: one file each, with its definition, an example, its source, and its query.

The rows of a query are the witnesses; no row, no anomaly. A new anomaly is
a new file here with a constant `ANOMALY`; which claims it refutes is said in `checkers.claims`,
which other anomalies it brings with it in `onceproof.checkers.implications`.
"""

from __future__ import annotations

from functools import cache
from typing import cast

from onceproof.checkers.model import Anomaly
from onceproof.checkers.scan import members

__all__ = ["anomalies"]


@cache
def anomalies() -> dict[str, Anomaly]:
    """All anomalies by name."""
    found = cast("tuple[Anomaly, ...]", members(__name__, "ANOMALY"))
    return {anomaly.name: anomaly for anomaly in found}
