"""Read a Delta table through its transaction log.

Each commit is a file `_delta_log/<version>.json` of actions. A commit that adds files may also
contain a `txn` action (application id and version), which guards against duplicates. MERGE, UPDATE
and OPTIMIZE remove files and add replacements.

Source: the Delta transaction log protocol, section "Action Reconciliation".
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote

from onceproof.harness.sinks.base import AtomicBatch, Effect, State
from onceproof.harness.sinks.rows import Rows, UnreadableFiles, effects_of, rows_of

LOG: Final = "_delta_log"
VIEW: Final = "table"

_COMMIT = re.compile(r"\d{20}\.json")
_FILE_ACTIONS: Final = ("add", "remove")
_FEATURES: Final = {
    "columnMapping",
    "deletionVectors",
    "timestampNtz",
    "v2Checkpoint",
    "vacuumProtocolCheck",
}
"""Accepted reader features; the first two only as long as the table does not use them."""
_MAPPING: Final = "delta.columnMapping.mode"


class DeltaTable:
    """The newest version of a table of payments with their fee."""

    def __init__(self, folder: Path, *, topic: str, sink: str) -> None:
        """`folder` may not exist yet; then the table is empty."""
        self._folder = folder
        self._topic = topic
        self.name = sink

    def size(self) -> int:
        return len(self._commits())

    def effects(self) -> list[Effect]:
        return list(effects_of(self.rows(), sink=self.name, view=VIEW, topic=self._topic))

    def rows(self) -> Iterator[tuple[Path, Rows]]:
        """Yield the rows of the table's active files, in the order in which they were added.

        Raises:
            UnreadableFiles: a commit is damaged or missing, a file has a deletion vector, or the
                table uses an unsupported feature.
        """
        live: dict[str, None] = {}
        for kind, action in self._actions():
            self._check_features(kind, action)
            if kind == "add":
                _check_no_deletion_vector(action)
                live[action["path"]] = None
            elif kind == "remove":
                live.pop(action["path"], None)
        for path in live:
            file = self._folder / unquote(path)
            yield file, rows_of(file)

    def states(self) -> list[State]:
        return []

    def atomic_batches(self) -> list[AtomicBatch]:
        """Return the `txn` actions; an application id is a query id, a version a batch id."""
        return [
            AtomicBatch(owner=str(txn["appId"]), batch=int(txn["version"]), ordinal=number)
            for number, txn in enumerate(a for kind, a in self._actions() if kind == "txn")
        ]

    def hanging(self) -> bool:
        return False

    def _check_features(self, kind: str, action: dict[str, Any]) -> None:
        """Check that plain Parquet reading of the files gives the table's rows."""
        features = action.get("readerFeatures") or () if kind == "protocol" else ()
        unknown = {*features} - _FEATURES
        configuration = action.get("configuration") or {} if kind == "metaData" else {}
        if configuration.get(_MAPPING, "none") != "none":
            unknown.add("columnMapping")
        if unknown:
            raise UnreadableFiles(
                f"{self._folder}: unsupported reader features {', '.join(sorted(unknown))}; "
                "expected a table that can be read as plain Parquet files"
            )

    def _commits(self) -> list[Path]:
        log = self._folder / LOG
        return sorted(p for p in log.iterdir() if _COMMIT.fullmatch(p.name)) if log.is_dir() else []

    def _actions(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield the kind and the fields of each action, in order.

        Raises:
            UnreadableFiles: a commit is damaged or missing.
        """
        for version, path in enumerate(self._commits()):
            if int(path.stem) != version:
                raise UnreadableFiles(
                    f"{path.parent}: version {version} is missing, expected every version from 0"
                )
            text = ""
            try:
                text = path.read_text()
                actions = [_action(line) for line in text.splitlines()]
            except (OSError, ValueError) as error:
                raise UnreadableFiles(f"{path}: {error}: {text[:200]!r}") from error
            yield from actions


def _action(line: str) -> tuple[str, dict[str, Any]]:
    found = json.loads(line)
    if not isinstance(found, dict) or len(found) != 1:
        raise ValueError(f"not a Delta action: {line[:80]!r}")
    ((kind, fields),) = found.items()
    if not isinstance(fields, dict) or (
        kind in _FILE_ACTIONS and not isinstance(fields.get("path"), str)
    ):
        raise ValueError(f"action {kind} has no path: {line[:80]!r}")
    return kind, fields


def _check_no_deletion_vector(add: dict[str, Any]) -> None:
    if add.get("deletionVector"):
        raise UnreadableFiles(
            f"{add['path']} has a deletion vector, expected a table without deletion vectors "
            "(delta.enableDeletionVectors=false)"
        )
