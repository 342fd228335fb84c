"""Append records to a file: `python -m onceproof.harness.workload.clients.file TASK`.

The file is named after the topic and lies in the folder of the task's records. A line's offset is
its first byte. A record is acknowledged after fsync.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from io import FileIO
from pathlib import Path

from onceproof.harness.workload.clients.runtime import Call, SenderRuntime, load_runtime


def append_all(runtime: SenderRuntime) -> None:
    """Append every record at the ordered pace.

    If the file cannot be written, this raises `OSError`, and the records have no outcome.
    """
    folder = Path(runtime.task.records).parent
    files: dict[str, FileIO] = {}
    while not runtime.over:
        runtime.listen(0.005)
        calls = runtime.due()
        for topic in dict.fromkeys(call.record.topic for call in calls):
            if topic not in files:
                files[topic] = (folder / topic).open("ab", buffering=0)
            _append(runtime, files[topic], [call for call in calls if call.record.topic == topic])
        runtime.report()
    for file in files.values():
        file.close()
    runtime.close()


def _append(runtime: SenderRuntime, file: FileIO, calls: Sequence[Call]) -> None:
    lines = [(call.value or b"") + b"\n" for call in calls]
    rest = memoryview(b"".join(lines))
    size = len(rest)
    while rest:
        rest = rest[file.write(rest) :]
    os.fsync(file.fileno())
    offset = file.tell() - size
    for call, line in zip(calls, lines, strict=True):
        runtime.acknowledged(call.attempt, 0, offset)
        offset += len(line)


def main() -> None:
    append_all(load_runtime())


if __name__ == "__main__":
    main()
