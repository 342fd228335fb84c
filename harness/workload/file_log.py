"""Read a file of payments as a log with one partition and an entry for each line.

The offset of a line is its first byte. A last line without a newline is ignored.
"""

from __future__ import annotations

import json
from pathlib import Path

from onceproof.harness.history.identity import RECORD_HEADER
from onceproof.harness.kafka.log_reader import Entry, PartitionLog


def read_file(file: Path, topic: str, start: int = 0) -> PartitionLog:
    """Read a file, called `topic` in the history, from a byte on; a missing file is empty."""
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
    """A file as a single-partition log."""

    def __init__(self, file: Path, topic: str) -> None:
        self._file = file
        self._topic = topic

    def read(self, start: int = 0) -> PartitionLog:
        return read_file(self._file, self._topic, start)

    def end(self) -> int:
        return self.read().high_watermark


def _entry(topic: str, offset: int, line: bytes) -> Entry:
    """Convert a line; a payment's account is the entry's key."""
    record, account = None, None
    try:
        payment = json.loads(line)
        record, account = payment["record"], payment["account"]
    except (ValueError, KeyError, TypeError):
        pass  # not a payment: without an identity the checkers report it
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
