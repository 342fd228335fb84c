"""Offsets that consumer groups commit for a pipeline's inputs, and when each was first seen.

They are not used for verdicts, because only its owner knows whether the pipeline starts from them.
They are recorded as `advisory`: a report shows when an input was committed, and the lag.
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
from onceproof.harness.subjects.group.positions import GroupPositions, Reader, rows_of
from onceproof.harness.subjects.group.sightings import FirstSightings

_EMPTY: Final = "Empty"
_LIST_SECONDS: Final = 3.0
"""Seconds between two requests for the list of groups, while none is known."""


@dataclass(frozen=True, kw_only=True)
class GroupProgress:
    """A group, whether it has members, and its committed offsets of the inputs."""

    name: str
    works: bool
    positions: Positions


class GroupCommits:
    """The commits of all consumer groups that read one of some topics."""

    def __init__(
        self, topics: Collection[str], *, addresses: Iterable[str], reader: Reader
    ) -> None:
        """`addresses` bypass the proxies."""
        self._topics = topics
        self._addresses = tuple(addresses)
        self._reader = reader
        self._groups: dict[str, tuple[GroupPositions, FirstSightings]] = {}
        self._listed_at = 0.0

    def newest(self) -> dict[tuple[str, int], int]:
        """Return the committed offsets of all groups; empty while they cannot be read.

        Groups with members are all active, perhaps each for its own output, so the slowest one
        counts. Groups without members count only where no active group has committed. They may be
        left from an earlier process, or belong to a consumer that is not a group member.
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
        if not self._groups and time.monotonic() - self._listed_at >= _LIST_SECONDS:
            self._find_groups()
        return sum(len(self._commits(*known)) for known in tuple(self._groups.values()))

    def rows(self) -> list[dict[str, Any]]:
        """Return all commits as rows of `positions`."""
        self._find_groups()
        return [
            row
            for group, known in sorted(self._groups.items())
            for row in rows_of(self._commits(*known), group, role="advisory")
        ]

    def _commits(
        self, positions: GroupPositions, first: FirstSightings
    ) -> list[tuple[Commit, int]]:
        commits = positions.look()
        together = zip(commits, first.of(commits), strict=True)
        return [(commit, at) for commit, at in together if commit.topic in self._topics]

    def _find_groups(self) -> None:
        for group in self.by_group():
            if group.name not in self._groups:
                known = (GroupPositions(group.name, self._reader), FirstSightings())
                self._groups[group.name] = known
        self._listed_at = time.monotonic()

    def by_group(self) -> list[GroupProgress]:
        """Return the groups that have committed offsets; none while they cannot be read."""
        found: list[GroupProgress] = []
        with suppress(OSError, Refused):  # the group coordinator is unavailable
            found.extend(self._progress())
        return found

    def by_name(self) -> dict[str, Positions] | None:
        """Return the committed offsets of each group; None while they cannot be read."""
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
