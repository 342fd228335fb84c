"""A Delta table, read by its own log: Parquet files, and which of them count.

The one thing to know: each commit is a file `_delta_log/<version>.json` of actions. What adds files
may also name an application and its version, in one stroke with them: that is the guard.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote

from harness.sinks.base import AtomicBatch, Effect, State
from harness.sinks.rows import UnreadableFiles, effects_of, rows_of

LOG: Final = "_delta_log"
VIEW: Final = "table"

_COMMIT = re.compile(r"\d{20}\.json")


class DeltaTable:
    """A table of payments with their fee, to which is only appended."""

    def __init__(self, folder: Path, *, topic: str, sink: str) -> None:
        """`folder` may come later; until then there is nothing in it."""
        self._folder = folder
        self._topic = topic
        self.name = sink

    def size(self) -> int:
        """How many commits there are."""
        return len(self._commits())

    def effects(self) -> list[Effect]:
        """One effect a row."""
        rows = ((file, rows_of(file)) for file in self.files())
        return list(effects_of(rows, sink=self.name, view=VIEW, topic=self._topic))

    def files(self) -> list[Path]:
        """The files that count, in the order in which they were added."""
        return [self._folder / unquote(str(add["path"])) for add in self._actions("add")]

    def states(self) -> list[State]:
        """None."""
        return []

    def atomic_batches(self) -> list[AtomicBatch]:
        """Versions of applications, which are micro-batches of queries."""
        return [
            AtomicBatch(owner=str(txn["appId"]), batch=int(txn["version"]), ordinal=number)
            for number, txn in enumerate(self._actions("txn"))
        ]

    def hanging(self) -> bool:
        """Nothing can."""
        return False

    def _commits(self) -> list[Path]:
        log = self._folder / LOG
        return sorted(p for p in log.iterdir() if _COMMIT.fullmatch(p.name)) if log.is_dir() else []

    def _actions(self, kind: str) -> Iterator[dict[str, Any]]:
        """What commits did, of one kind, in order.

        Raises:
            UnreadableFiles: a commit is damaged, or takes files away.
        """
        for path in self._commits():
            text = ""
            try:
                text = path.read_text()
                for line in text.splitlines():
                    action = json.loads(line)
                    if "remove" in action:
                        raise ValueError("it takes files away, expected a table that only grows")
                    if kind in action:
                        yield action[kind]
            except (OSError, ValueError, TypeError) as error:
                raise UnreadableFiles(f"{path}: {error}: {text[:200]!r}") from error
