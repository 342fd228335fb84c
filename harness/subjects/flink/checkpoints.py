"""Checkpoints of a Flink job in their folder: which are complete, and where its source was.

A checkpoint is complete when `chk-N/_metadata` has been moved in, and what
the source had read by then is in it, for each partition as Kafka's connector writes a split:
the topic, the partition, the next offset, and where it is to end, which is nowhere. So a resume
position is read from the checkpoint itself, and not from the group's offsets, from which Flink does
not start.

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
"""How the name begins under which it is written."""
_NAME: Final = re.compile(r"chk-(\d+)")
_NOWHERE: Final = -(2**63)
_SPLIT: Final = struct.Struct(">iqq")


class UnreadableCheckpoint(RuntimeError):
    """A checkpoint that is complete cannot be read; the text says which, and why."""


@dataclass(frozen=True, kw_only=True)
class Complete:
    """A complete checkpoint.

    Attributes:
        number: N of `chk-N`.
        folder: what a job is started from.
    """

    number: int
    folder: Path

    def positions(self, topic: str) -> dict[tuple[str, int], int]:
        """(topic, partition) → the next offset that its source would read.

        Empty if its source had no partition yet: the first checkpoint may be as early as that.

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
    """Partition → the furthest next offset in the bytes of `_metadata`.

    It may be negative, which stands for a beginning. A split is there once for the reader that
    has it, and may be there again as it was when the source found it, which is no further.
    """
    name = topic.encode()
    sought = struct.pack(">H", len(name)) + name
    found: dict[int, int] = {}
    at = data.find(sought)
    while at >= 0:
        place = at + len(sought)
        with suppress(struct.error):  # the topic's name, with something else behind it
            partition, offset, end = _SPLIT.unpack_from(data, place)
            if end == _NOWHERE and partition >= 0:
                found[partition] = max(offset, found.get(partition, offset))
        at = data.find(sought, place)
    return found


def number_of(name: str) -> int | None:
    """N of a folder called `chk-N`; None for any other."""
    found = _NAME.fullmatch(name)
    return int(found[1]) if found else None


def newest(folder: Path) -> Complete | None:
    """The newest complete checkpoint below the folder that a job was given for them."""
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
    """How far a checkpoint below a life's folder is; None if it is not there."""
    for checkpoint in folder.glob(f"*/chk-{number}"):
        names = [path.name for path in checkpoint.iterdir()]
        if METADATA in names:
            return "complete"
        return "flushed" if any(name.startswith(IN_PROGRESS) for name in names) else "begun"
    return None
