"""When each commit of a group was first observed.

A commit has no id, and a transactional one becomes visible late, between others. So it is
identified by topic, partition, offset, and how often that offset was committed before.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from onceproof.harness.clock import now
from onceproof.harness.kafka.group_offsets import Commit

_Known = tuple[str, int, int, int]


class FirstSightings:
    """First sightings of the commits of one group. Thread-safe."""

    def __init__(self, clock: Callable[[], int] = now) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._first: dict[_Known, int] = {}

    def of(self, commits: Sequence[Commit]) -> list[int]:
        """Return when each was first seen (nanoseconds, monotonic clock); new ones are seen now."""
        with self._lock:
            moment = self._clock()
            return [self._first.setdefault(known, moment) for known in _known(commits)]


def _known(commits: Sequence[Commit]) -> Iterator[_Known]:
    times: Counter[tuple[str, int, int]] = Counter()
    for commit in commits:
        place = (commit.topic, commit.partition, commit.offset)
        times[place] += 1
        yield (*place, times[place])
