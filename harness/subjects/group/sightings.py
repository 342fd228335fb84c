"""When each commit of a group was first seen by a look.

A commit has no name of its own, and one of a transaction shows when that is
decided, in the middle of what was seen already. So it is known by its place and by how often that
place was committed before.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from onceproof.harness.clock import now
from onceproof.harness.kafka.group_offsets import Commit

_Known = tuple[str, int, int, int]


class Sightings:
    """First sightings of the commits of one group. Thread-safe."""

    def __init__(self, clock: Callable[[], int] = now) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._first: dict[_Known, int] = {}

    def of(self, commits: Sequence[Commit]) -> list[int]:
        """When each was seen first, in nanoseconds of the monotonic clock: now, if it is new."""
        with self._lock:
            moment = self._clock()
            return [self._first.setdefault(known, moment) for known in _known(commits)]


def _known(commits: Sequence[Commit]) -> Iterator[_Known]:
    times: Counter[tuple[str, int, int]] = Counter()
    for commit in commits:
        place = (commit.topic, commit.partition, commit.offset)
        times[place] += 1
        yield (*place, times[place])
