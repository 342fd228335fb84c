"""One piece of advice: what to change in a system so that an anomaly does not occur again."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from onceproof.harness.history.system import System


@dataclass(frozen=True, kw_only=True)
class Advice:
    """What to change.

    Attributes:
        anomalies: names of the anomalies that it is for.
        systems: the systems that it is for; empty: all that can have such an anomaly.
        text: one to three sentences; settings and names in code are in backticks.
        page: the how-to that shows it step by step, as a path below `docs/`; None if there is none.
    """

    anomalies: frozenset[str]
    systems: frozenset[System] = frozenset()
    text: str
    page: str | None = None


def advice(
    anomalies: str, text: str, *, systems: Iterable[System] = (), page: str | None = None
) -> Advice:
    """Return advice for anomalies whose names are separated by spaces."""
    return Advice(
        anomalies=frozenset(anomalies.split()), systems=frozenset(systems), text=text, page=page
    )
