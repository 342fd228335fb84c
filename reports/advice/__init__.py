"""What to do about an anomaly: the advice for it, in one system or in all.

A new piece of advice goes into the file of its kind of system. `ALL` has them in the order of
reading: what is particular to a system comes before what helps any.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from onceproof.harness.history.system import System
from onceproof.reports.advice.advice import Advice
from onceproof.reports.advice.any_pipeline import ANY_PIPELINE
from onceproof.reports.advice.consumers import CONSUMERS
from onceproof.reports.advice.engines import ENGINES
from onceproof.reports.advice.topics import TOPICS

__all__ = ["ALL", "Advice", "advised", "by_system"]

ALL: Final[tuple[Advice, ...]] = (*CONSUMERS, *ENGINES, *TOPICS, *ANY_PIPELINE)


def advised(anomaly: str, system: System | None) -> tuple[Advice, ...]:
    """Return the advice for an anomaly that was found in a system.

    If the system is unknown, or has no advice of its own, it is what helps any.
    """
    mine = [each for each in ALL if anomaly in each.anomalies]
    own = tuple(each for each in mine if system in each.systems)
    return own or tuple(each for each in mine if not each.systems)


def by_system(anomaly: str) -> Iterator[tuple[str | None, Advice]]:
    """Yield the advice for an anomaly, each with the names of its systems; None: it is for all."""
    for each in ALL:
        if anomaly in each.anomalies:
            yield ", ".join(sorted(each.systems)) or None, each
