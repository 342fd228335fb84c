"""An application that appends records to a file, which `harness/workload/file_log.py` reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Final

from onceproof.harness.tools.setup import Tools
from onceproof.harness.workload.senders.base import Medium, python_client


@dataclass(frozen=True, kw_only=True)
class FileSender:
    """Append records, and acknowledge them after fsync."""

    into: ClassVar[Medium] = "file"
    runtime: ClassVar[str | None] = None

    @property
    def name(self) -> str:
        return "file"

    @property
    def resend_seconds(self) -> float | None:
        return None

    def settings(self, *, transactional: bool) -> Mapping[str, Any]:
        return {"acknowledged": "after fsync"}

    def command(self, task: Path, tools: Tools | None) -> Sequence[str | Path]:
        return python_client("file", task, tools)


FILE: Final = FileSender()
