"""A file that payments are appended to, seen as a log: one partition, a line is an entry.

The one thing to know: an offset is the byte at which a line begins, which is also how a reader of
files counts. A line without its newline is not there yet.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from harness.identity import RECORD_HEADER
from harness.kafka.log_reader import Entry, LogReader, PartitionLog
from harness.kafka.metadata import ClusterView


def read_file(file: Path, topic: str, start: int = 0) -> PartitionLog:
    """What a file holds from an offset on; nothing if there is no file yet.

    Args:
        file: which.
        topic: what the history calls it.
        start: the byte at which the first line begins.
    """
    data = file.read_bytes() if file.exists() else b""
    end = data.rfind(b"\n") + 1
    entries = []
    offset = 0
    for line in data[:end].splitlines(keepends=True):
        if offset >= start:
            entries.append(_entry(topic, offset, line.rstrip(b"\n")))
        offset += len(line)
    return PartitionLog(
        topic=topic,
        partition=0,
        log_start=0,
        last_stable_offset=end,
        high_watermark=end,
        entries=entries,
    )


class ReaderWithFiles(LogReader):
    """Reads topics, and files as if they were topics."""

    def __init__(
        self, view: ClusterView, addresses: Mapping[int, str], files: Mapping[str, Path]
    ) -> None:
        """`files` says where each topic is that is a file; for the rest see `LogReader`."""
        super().__init__(view, addresses)
        self._files = dict(files)

    def read(self, topic: str, partition: int, start: int = 0) -> PartitionLog:
        """Read a partition, or a file, from `start` to its end."""
        if topic in self._files:
            return read_file(self._files[topic], topic, start)
        return super().read(topic, partition, start)

    def read_topic(self, topic: str, starts: dict[int, int] | None = None) -> list[PartitionLog]:
        """Read every partition of a topic, or a file."""
        if topic in self._files:
            return [self.read(topic, 0, (starts or {}).get(0, 0))]
        return super().read_topic(topic, starts)

    def ends(self, topic: str) -> dict[int, tuple[int, int]]:
        """(last stable offset, high watermark); both are the end of the last whole line."""
        if topic in self._files:
            log = self.read(topic, 0)
            return {0: (log.last_stable_offset, log.high_watermark)}
        return super().ends(topic)

    def count(self, topic: str) -> int:
        """How many partitions there are: of a file, one."""
        return 1 if topic in self._files else super().count(topic)


def _entry(topic: str, offset: int, line: bytes) -> Entry:
    """A line of a payment says its record and, as its account, its key."""
    record, account = None, None
    try:
        payment = json.loads(line)
        record, account = payment["record"], payment["account"]
    except (ValueError, KeyError, TypeError):
        pass  # somebody else's; it has no identity, and the checkers say so
    return Entry(
        topic=topic,
        partition=0,
        offset=offset,
        kind="data",
        key=account.encode() if isinstance(account, str) else None,
        value=line,
        headers={RECORD_HEADER: record.encode()} if isinstance(record, str) else {},
        producer_id=-1,
        epoch=-1,
        sequence=-1,
        transactional=False,
    )
