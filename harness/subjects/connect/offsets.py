"""Read every offset that a source connector committed, in order, from Connect's offsets topic.

With exactly-once support, offsets are in the transactions of the records.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from onceproof.harness.kafka.group_offsets import Commit
from onceproof.harness.kafka.log_reader import Entry, LogReader, UnreadableLog
from onceproof.harness.subjects.group.positions import LoggedPositions, Reader

OFFSETS: Final = "onceproof-connect-offsets"
"""Connect's offset storage topic; it has one partition here."""
Place = Callable[[Mapping[str, Any], Mapping[str, Any]], tuple[str, int, int]]
"""Convert a connector's source partition and source offset to (topic, partition, next offset)."""


def place_in_file(where: Mapping[str, Any], position: Mapping[str, Any]) -> tuple[str, int, int]:
    """Convert a file source's offset, which is the position of the next byte."""
    return Path(where["filename"]).name, 0, int(position["position"])


def place_in_topic(where: Mapping[str, Any], position: Mapping[str, Any]) -> tuple[str, int, int]:
    """Convert a mirror source's offset, which is the last copied one: the next is one higher."""
    return str(where["topic"]), int(where["partition"]), int(position["offset"]) + 1


def commit_of(entry: Entry, connector: str, place: Place) -> Commit | None:
    """Return the commit in a log entry; None for other connectors, markers and tombstones."""
    if entry.kind != "data" or entry.key is None or entry.value is None:
        return None
    whose, where = json.loads(entry.key)
    position = json.loads(entry.value)
    if whose != connector or position is None:
        return None
    topic, partition, offset = place(where, position)
    return Commit(
        topic=topic, partition=partition, offset=offset, transactional=entry.transactional
    )


class SourceOffsets(LoggedPositions):
    """The committed offsets of one source connector, in Connect's offsets topic. Thread-safe."""

    def __init__(
        self, connector: str, place: Place, reader: Reader, *, topic: str = OFFSETS
    ) -> None:
        super().__init__(lambda log: _commits(log, topic, connector, place), reader)


def _commits(reader: LogReader, topic: str, connector: str, place: Place) -> list[Commit]:
    if not reader.count(topic):
        raise UnreadableLog(f"topic {topic} does not exist")
    log = reader.read(topic, 0)
    decided = zip(log.entries, log.committed(), strict=True)
    found = (commit_of(entry, connector, place) for entry, committed in decided if committed)
    return [commit for commit in found if commit is not None]
