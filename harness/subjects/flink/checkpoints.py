"""Read a Flink job's checkpoints from their folder: which are complete, and their source offsets.

A checkpoint is complete when `chk-N/_metadata` has been renamed into place. It contains the
source's splits: topic, partition, next offset, and stopping offset (none). Flink starts from these
and not from the consumer group's offsets.

Source: KafkaPartitionSplitSerializer of flink-connector-kafka 3.4 to 5.0.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from onceproof.harness.subjects.flink.crash_points import Sign

METADATA: Final = "_metadata"
IN_PROGRESS: Final = f".{METADATA}.inprogress"
"""Prefix of the temporary name under which it is written."""
_NAME: Final = re.compile(r"chk-(\d+)")
_NO_STOPPING_OFFSET: Final = -(2**63)
_SPLIT: Final = struct.Struct(">iqq")


class UnreadableCheckpoint(RuntimeError):
    """A complete checkpoint cannot be read; the text says which, and why."""


@dataclass(frozen=True, kw_only=True)
class Complete:
    """A complete checkpoint, `chk-<number>`."""

    number: int
    folder: Path

    def positions(self, topic: str) -> dict[tuple[str, int], int]:
        """Return (topic, partition) → the next offset that the source would read.

        Empty if the source had no partition yet, as in a very early first checkpoint.

        Raises:
            UnreadableCheckpoint: it is gone.
        """
        try:
            data = (self.folder / METADATA).read_bytes()
        except OSError as error:
            raise UnreadableCheckpoint(f"{self.folder}: {error}") from error
        found = sorted(splits(data, topic).items())
        return {(topic, partition): offset for partition, offset in found if offset >= 0}


def splits(data: bytes, topic: str) -> Mapping[int, int]:
    """Return partition → highest next offset in the bytes of `_metadata`.

    A negative offset stands for a starting position. A split appears once for the reader that owns
    it, and may appear again as it was discovered, with an offset that is not higher.
    """
    name = topic.encode()
    pattern = struct.pack(">H", len(name)) + name
    found: dict[int, int] = {}
    at = data.find(pattern)
    while at >= 0:
        place = at + len(pattern)
        with suppress(struct.error):  # the topic's name, but not in a split
            partition, offset, end = _SPLIT.unpack_from(data, place)
            if end == _NO_STOPPING_OFFSET and partition >= 0:
                found[partition] = max(offset, found.get(partition, offset))
        at = data.find(pattern, place)
    return found


def number_of(name: str) -> int | None:
    found = _NAME.fullmatch(name)
    return int(found[1]) if found else None


def newest(folder: Path) -> Complete | None:
    """Return the newest complete checkpoint below a job's checkpoint folder."""
    found: list[tuple[int, Path]] = []
    for metadata in folder.glob(f"*/chk-*/{METADATA}"):
        number = number_of(metadata.parent.name)
        if number is not None:
            found.append((number, metadata.parent))
    if not found:
        return None
    number, place = max(found)
    return Complete(number=number, folder=place)


def sign_of(folder: Path, number: int) -> Sign | None:
    """Return the state of a checkpoint below a life's folder; None if it does not exist."""
    for checkpoint in folder.glob(f"*/chk-{number}"):
        names = [path.name for path in checkpoint.iterdir()]
        if METADATA in names:
            return "complete"
        return "flushed" if any(name.startswith(IN_PROGRESS) for name in names) else "begun"
    return None
