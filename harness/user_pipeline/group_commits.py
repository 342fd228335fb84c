"""What consumer groups commit of a pipeline's inputs, and when each commit was first seen.

Nothing is judged by it. Whether a pipeline starts from its group's
positions only its owner knows, so they are recorded as `advisory`: a report shows when an input
was behind it, and how far it lagged.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

from onceproof.harness.context.pipeline import Positions
from onceproof.harness.kafka.coordinator import Refused
from onceproof.harness.kafka.group_list import offsets_of_groups
from onceproof.harness.kafka.group_offsets import Commit
from onceproof.harness.subjects.group.positions import GroupPositions, Reader, row_of
from onceproof.harness.subjects.group.sightings import Sightings

_EMPTY: Final = "Empty"
_AGAIN: Final = 3.0
"""Seconds between two questions for groups, while there are none."""


@dataclass(frozen=True, kw_only=True)
class GroupProgress:
    """A group, whether it has members, and its newest positions in the inputs."""

    name: str
    works: bool
    positions: Positions


class GroupCommits:
    """The commits of every group of a cluster that reads one of some topics."""

    def __init__(
        self, topics: Collection[str], *, addresses: Iterable[str], reader: Reader
    ) -> None:
        """The latter lead past all proxies."""
        self._topics = topics
        self._addresses = tuple(addresses)
        self._reader = reader
        self._groups: dict[str, tuple[GroupPositions, Sightings]] = {}
        self._asked = 0.0

    def newest(self) -> dict[tuple[str, int], int]:
        """How far all groups are; empty while nobody can say.

        Groups that have members all work, each for an output of its own perhaps, and the slowest
        says how far that is. Groups without count only where no other has a position: they may be
        left from an earlier life, or be those of who takes no part in a group.
        """
        found: dict[tuple[str, int], int] = {}
        left: dict[tuple[str, int], int] = {}
        for group in self.by_group():
            for at, offset in group.positions.items():
                if group.works:
                    found[at] = min(offset, found.get(at, offset))
                else:
                    left[at] = max(offset, left.get(at, 0))
        return left | found

    def look(self) -> int:
        """See what is new; returns how many commits there are."""
        if not self._groups and time.monotonic() - self._asked >= _AGAIN:
            self._meet()
        return sum(len(self._seen(*known)) for known in tuple(self._groups.values()))

    def rows(self) -> list[dict[str, Any]]:
        """All commits as rows of `positions`."""
        self._meet()
        return [
            row_of(commit, group, role="advisory", ordinal=ordinal, at=at)
            for group, known in sorted(self._groups.items())
            for ordinal, (commit, at) in enumerate(self._seen(*known))
        ]

    def _seen(self, positions: GroupPositions, first: Sightings) -> list[tuple[Commit, int]]:
        commits = positions.look()
        together = zip(commits, first.of(commits), strict=True)
        return [(commit, at) for commit, at in together if commit.topic in self._topics]

    def _meet(self) -> None:
        for group in self.by_group():
            if group.name not in self._groups:
                known = (GroupPositions(group.name, self._reader), Sightings())
                self._groups[group.name] = known
        self._asked = time.monotonic()

    def by_group(self) -> list[GroupProgress]:
        """The groups that have a position; none while nobody can say."""
        found: list[GroupProgress] = []
        with suppress(OSError, Refused):  # whoever keeps them is away for now
            found.extend(self._progress())
        return found

    def by_name(self) -> dict[str, Positions] | None:
        """The newest positions of each group that has any; None while nobody can say."""
        try:
            return {group.name: group.positions for group in self._progress()}
        except (OSError, Refused):
            return None

    def _progress(self) -> Iterator[GroupProgress]:
        for group in offsets_of_groups(self._addresses):
            positions = {at: n for at, n in group.offsets.items() if at[0] in self._topics}
            if positions:
                works = group.state != _EMPTY
                yield GroupProgress(name=group.group, works=works, positions=positions)
