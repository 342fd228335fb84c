"""No client of Kafka's: an application that appends its records to a file, one a line.

The input of whatever reads it is then that file, and a record is in it when
its line is on disk, newline and all. `harness/workload/file_log.py` reads it as a log.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Final

from onceproof.harness.tools.setup import Tools
from onceproof.harness.workload.senders.base import Medium, python_client


@dataclass(frozen=True, kw_only=True)
class FileSender:
    """Appends, and syncs before it calls anything acknowledged."""

    into: ClassVar[Medium] = "file"

    @property
    def name(self) -> str:
        return "file"

    @property
    def resend_seconds(self) -> float | None:
        """Nothing is sent, so nothing is sent again."""
        return None

    def settings(self, *, transactional: bool) -> Mapping[str, Any]:
        return {"acknowledged": "after fsync"}

    def command(self, task: Path, tools: Tools | None) -> Sequence[str | Path]:
        return python_client("file", task)


FILE: Final = FileSender()
"""One line a record, synced."""
