"""A file that payments are appended to, seen as a log: one partition, a line is an entry.

An offset is the byte at which a line begins, which is also how a reader of
files counts. A line without its newline is not there yet.
"""

from __future__ import annotations

import json
from pathlib import Path

from onceproof.harness.history.identity import RECORD_HEADER
from onceproof.harness.kafka.log_reader import Entry, PartitionLog


def read_file(file: Path, topic: str, start: int = 0) -> PartitionLog:
    """What a file holds from an offset on; nothing if there is no file yet.

    Args:
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


class FileLog:
    """A file as a log that no broker keeps."""

    def __init__(self, file: Path, topic: str) -> None:
        """`topic` is what the history calls it."""
        self._file = file
        self._topic = topic

    def read(self, start: int = 0) -> PartitionLog:
        """Read it from `start` to the end of its last whole line."""
        return read_file(self._file, self._topic, start)

    def end(self) -> int:
        return self.read().high_watermark


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
