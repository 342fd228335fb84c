"""Every position that a consumer group ever committed, in order, from Kafka's own log of them.

`__consumer_offsets` holds commits of all groups, each in the partition that
its name hashes to; those of a transaction count from its marker on. A client's look at the same
shows the newest ones only, and not how they came.

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
"""Versions of a key that say a position; 2 says a group's members."""


@dataclass(frozen=True, kw_only=True)
class Commit:
    """One committed position of a group, the next offset to be read.

    Attributes:
        offset: the next one to be read.
        transactional: it was committed by a producer's transaction.
    """

    topic: str
    partition: int
    offset: int
    transactional: bool


def commits(reader: LogReader, group: str, since: int = 0) -> list[Commit]:
    """What a group committed, oldest first; nothing of what was aborted or is undecided.

    Args:
        since: the offset in Kafka's log of commits from which on they count, see `end_for`.

    Raises:
        UnreadableLog: the log cannot be read to its end.
    """
    count = reader.count(OFFSETS_TOPIC)
    if not count:
        return []  # it is made when the first group asks for its coordinator
    log = reader.read(OFFSETS_TOPIC, partition_of(group, count), since)
    decided = zip(log.entries, log.committed(), strict=True)
    found = (_commit(entry, group) for entry, committed in decided if committed)
    return [commit for commit in found if commit is not None]


def end_for(reader: LogReader, group: str) -> int:
    """Where the log that a group commits to ends now; 0 as long as there is none.

    A cluster that outlives a run still has what a group of that name committed before, although its
    topics were removed in between.

    Raises:
        UnreadableLog: nobody can say.
    """
    count = reader.count(OFFSETS_TOPIC)
    if not count:
        return 0
    return reader.end(OFFSETS_TOPIC, partition_of(group, count))


def _commit(entry: Entry, group: str) -> Commit | None:
    """What an entry says of a group; None for other groups, members and removals."""
    if entry.kind != "data" or entry.key is None or entry.value is None:
        return None
    key = entry.key
    (version,) = struct.unpack_from(">h", key)
    if version not in _OFFSET_KEYS:
        return None
    whose, place = _text(key, 2)
    topic, place = _text(key, place)
    if whose != group:
        return None
    (partition,) = struct.unpack_from(">i", key, place)
    (offset,) = struct.unpack_from(">q", entry.value, 2)
    return Commit(
        topic=topic, partition=partition, offset=offset, transactional=entry.transactional
    )


def _text(data: bytes, place: int) -> tuple[str, int]:
    (size,) = struct.unpack_from(">h", data, place)
    begin = place + 2
    return data[begin : begin + size].decode(), begin + size
