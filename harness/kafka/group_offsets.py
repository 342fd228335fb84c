"""Read all offset commits of a consumer group, in order, from `__consumer_offsets`.

A client can only fetch the newest committed offsets. Commits in a transaction count once its commit
marker is written.

Source: Kafka's OffsetCommitKey and OffsetCommitValue (versions 0 and 1 of the key).
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Final

from onceproof.harness.kafka.keeping import KEPT_IN, partition_of
from onceproof.harness.kafka.log_reader import Entry, LogReader

OFFSETS_TOPIC: Final = KEPT_IN["group"]
_OFFSET_KEYS: Final = frozenset({0, 1})
"""Key versions of offset commits; version 2 is group metadata."""


@dataclass(frozen=True, kw_only=True)
class Commit:
    """One commit of a group's next offset, by itself or in a producer's transaction."""

    topic: str
    partition: int
    offset: int
    transactional: bool


def commits(reader: LogReader, group: str, since: int = 0) -> list[Commit]:
    """Return a group's commits, oldest first, without those of aborted or open transactions.

    `since` is an offset in the log of commits, see `end_for`.

    Raises:
        UnreadableLog: the log cannot be read to its end.
    """
    count = reader.count(OFFSETS_TOPIC)
    if not count:
        return []  # the topic is created when the first group looks for its coordinator
    log = reader.read(OFFSETS_TOPIC, partition_of(group, count), since)
    decided = zip(log.entries, log.committed(), strict=True)
    found = (_commit(entry, group) for entry, committed in decided if committed)
    return [commit for commit in found if commit is not None]


def end_for(reader: LogReader, group: str) -> int:
    """Return the current end of the log that a group commits to; 0 if it does not exist.

    A cluster that outlives a run still has the earlier commits of a group with this name, even
    though its topics were deleted.

    Raises:
        UnreadableLog: the log cannot be read.
    """
    count = reader.count(OFFSETS_TOPIC)
    if not count:
        return 0
    return reader.end(OFFSETS_TOPIC, partition_of(group, count))


def _commit(entry: Entry, group: str) -> Commit | None:
    """Parse a commit of the group; None for other groups, group metadata and tombstones."""
    if entry.kind != "data" or entry.key is None or entry.value is None:
        return None
    key = entry.key
    (version,) = struct.unpack_from(">h", key)
    if version not in _OFFSET_KEYS:
        return None
    owner, position = _text(key, 2)
    topic, position = _text(key, position)
    if owner != group:
        return None
    (partition,) = struct.unpack_from(">i", key, position)
    (offset,) = struct.unpack_from(">q", entry.value, 2)
    return Commit(
        topic=topic, partition=partition, offset=offset, transactional=entry.transactional
    )


def _text(data: bytes, position: int) -> tuple[str, int]:
    (size,) = struct.unpack_from(">h", data, position)
    begin = position + 2
    return data[begin : begin + size].decode(), begin + size
