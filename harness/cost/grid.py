"""What is measured: the setup that was asked for, and the grid around it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from onceproof.harness.cost import pipelines, producers, queues
from onceproof.harness.cost.pipelines import PIPELINES
from onceproof.harness.cost.producers import CLIENTS, Extent
from onceproof.harness.cost.ways import Comparison, Setup

TARGETS: Final = (*CLIENTS, *PIPELINES, queues.NAME)
USUAL_TARGETS: Final = CLIENTS
INTERVALS: Final = (0.1, 0.01, 1.0)
"""Seconds between two commits that are measured; the first is in the headline."""
RECORDS: Final = (1, 10, 100, 1_000, 10_000)
SIZES: Final = (100, 1_024, 10_240)
PARTITIONS: Final = (1, 10, 100)
LINGERS: Final = (0, 5, 50)
_Change = tuple[str, Mapping[str, Any]]
_OF_ALL: Final[tuple[_Change, ...]] = (
    *((f"size-{n}", {"size": n}) for n in SIZES),
    *((f"partitions-{n}", {"partitions": n}) for n in PARTITIONS),
    *((f"linger-{n}", {"linger": n}) for n in LINGERS),
)
_OF_PRODUCERS: Final[tuple[_Change, ...]] = (
    *((f"records-{n}", {"commit_records": n}) for n in RECORDS),
    ("acks-1", {"acks": "1"}),
)
_LAST: Final[tuple[_Change, ...]] = (("transaction-version-1", {"transaction_version": 1}),)
"""Changes the brokers, so it comes last."""


def comparisons(target: str, setup: Setup, *, full: bool) -> Iterator[Comparison]:
    """Yield the comparison of a target in this setup, then with one setting changed at a time.

    Args:
        full: whether there is more than the setup itself.
    """
    if not full:
        yield _comparison(target, setup, target)
        return
    yield _comparison(target, setup, target, "whole")
    usual = replace(setup, commit_every=setup.commit_every[:1])
    # With the ways that the others have, so that loads are parts of what these keep up with.
    yield _comparison(target, usual, f"{target}-usual", "brief")
    for name, change in _changes(target):
        changed = replace(usual, **change)
        if changed != usual:
            yield _comparison(target, changed, f"{target}-{name}", "brief")


def _changes(target: str) -> Iterator[_Change]:
    """Yield the changes that make a difference to a target."""
    if target in CLIENTS:
        yield from (*_OF_ALL, *_OF_PRODUCERS)
    elif target == queues.NAME:
        yield from (change for change in _OF_ALL if "size" in change[1])
        return
    else:
        used = PIPELINES[target].settings | {"partitions"}
        yield from (change for change in _OF_ALL if used.issuperset(change[1]))
    yield from _LAST


def _comparison(target: str, setup: Setup, name: str, extent: Extent = "usual") -> Comparison:
    for client in CLIENTS:
        if client == target:
            return producers.comparison_of(client, setup, name=name, extent=extent)
    if target == queues.NAME:
        return queues.comparison_of(setup, name=name)
    return pipelines.comparison_of(target, setup, called=name)
