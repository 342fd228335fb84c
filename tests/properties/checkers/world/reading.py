"""Readers that run while records are written.

Within a session a reader neither goes back nor skips anything; only a new session may go back. It
either polls to the end or is released before.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.properties.checkers.world.rows import Place, Row
from tests.properties.checkers.world.stage import Stage


class Reader:
    """A reader with one or more sessions."""

    def __init__(
        self, stage: Stage, name: str, isolation: str, places: list[Place], clock: str
    ) -> None:
        self._stage = stage
        self._isolation = isolation
        self._places = places
        self._clock = clock
        self._session = 0
        self._ordinal = 0
        self._assigned: list[Row] = []
        self.name = name
        self.position: dict[Place, int] = {}

    def assign(self, position: dict[Place, int]) -> None:
        """Begin a session that reads from these positions."""
        self._session += 1
        self._ordinal = 0
        self.position = dict(position)
        self._assigned = [
            self._stage.add(
                "assignments",
                **self._identity(),
                topic=topic,
                partition=partition,
                position=position[topic, partition],
                from_at=self._stage.tick(),
            )
            for topic, partition in self._places
        ]

    def release(self) -> None:
        """End the assignment: it was revoked, or the reader stopped."""
        at = self._stage.tick()
        for row in self._assigned:
            row["until_at"] = at
        self._assigned = []

    def poll(self, place: Place, limit: int, txn: str | None = None) -> int:
        """Read up to `limit` records; returns their number."""
        for read in range(limit):
            entry = self._stage.broker.deliver(place, self.position[place], self._isolation)
            if entry is None:
                return read
            self._stage.add(
                "reads",
                **self._identity(),
                ordinal=self._ordinal,
                topic=entry["topic"],
                partition=entry["partition"],
                offset=entry["offset"],
                record=entry["record"],
                attempt=entry["attempt"],
                txn=txn,
                at=self._stage.tick(),
            )
            self._ordinal += 1
            self.position[place] = entry["offset"] + 1
        return limit

    def _identity(self) -> dict[str, Any]:
        return {
            "reader": self.name,
            "session": f"{self.name}/{self._session}",
            "isolation": self._isolation,
            "clock": self._clock,
        }


def concurrent_reader(stage: Stage, number: int) -> Iterator[None]:
    """A reader that polls, is rebalanced and stops at random times."""
    places = [p for p in stage.broker.places if stage.maybe(0.8)] or stage.broker.places[:1]
    isolation = stage.pick(("read_committed", "read_uncommitted"))
    clock = stage.pick(("clock", "clock", "another host"))
    reader = Reader(stage, f"reader-{number}", isolation, places, clock)
    begin = {place: stage.broker.end(place) if stage.maybe(0.3) else 0 for place in places}
    reader.assign(begin)
    steps_left = stage.draw.randint(1, 12) if stage.maybe(0.4) else None
    while not stage.produced and steps_left != 0:
        yield
        steps_left = None if steps_left is None else steps_left - 1
        if stage.maybe(0.08):
            reader.release()
            earlier = {p: stage.draw.randint(begin[p], at) if at > begin[p] else at
                    for p, at in reader.position.items()}  # fmt: skip
            reader.assign(earlier if stage.maybe() else reader.position)
        elif stage.maybe(0.7):
            reader.poll(stage.pick(places), stage.draw.randint(1, 3))
    if steps_left is None:
        for place in places:
            while reader.poll(place, 100):
                pass
    else:
        reader.release()
