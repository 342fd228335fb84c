"""Every position that a source connector ever committed, in order, from Connect's own topic.

There a connector says itself what its input is called and how it counts; a
source task starts from the newest one. With exactly-once support they are in the transaction of
the records.
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
"""Connect's topic of positions; it has one partition here."""
Place = Callable[[Mapping[str, Any], Mapping[str, Any]], tuple[str, int, int]]
"""What a connector says of its input, and of its position in it, as (topic, partition, offset)."""


def place_in_file(where: Mapping[str, Any], position: Mapping[str, Any]) -> tuple[str, int, int]:
    """A file source counts bytes: it goes on at the next."""
    return Path(where["filename"]).name, 0, int(position["position"])


def place_in_topic(where: Mapping[str, Any], position: Mapping[str, Any]) -> tuple[str, int, int]:
    """A mirror source says which record it has copied: it goes on behind it."""
    return str(where["topic"]), int(where["partition"]), int(position["offset"]) + 1


def commit_of(entry: Entry, connector: str, place: Place) -> Commit | None:
    """What an entry says of a connector; None for other connectors, markers and removals."""
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
    """The positions of one source connector. Thread-safe."""

    def __init__(self, connector: str, place: Place, reader: Reader) -> None:
        """`reader` opens a reader of logs, past all proxies."""
        super().__init__(lambda log: _commits(log, connector, place), reader)


def _commits(reader: LogReader, connector: str, place: Place) -> list[Commit]:
    if not reader.count(OFFSETS):
        raise UnreadableLog(f"there is no topic {OFFSETS}")
    log = reader.read(OFFSETS, 0)
    decided = zip(log.entries, log.committed(), strict=True)
    found = (commit_of(entry, connector, place) for entry, committed in decided if committed)
    return [commit for commit in found if commit is not None]
