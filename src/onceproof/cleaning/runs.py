"""Decide which run folders are removed.

A run folder is recognized by its record, which contains the folder's name. If it holds anything
that no run writes there, it stays, because a user has put something into it.
"""

from __future__ import annotations

import os
import re
import shutil
import time
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from onceproof.cleaning.item import Item, size_of
from onceproof.harness.history.run_record import RUN_FILE, RunRecord, UnreadableRun
from onceproof.harness.processes import proc
from onceproof.internal_errors import MISTAKE_FILE
from onceproof.reports.write import HTML_FILE, JSON_FILE, UnreadableReport, load

_CREATED: Final = {RUN_FILE, "history", "logs", "work", HTML_FILE, JSON_FILE, MISTAKE_FILE}
"""Everything that a run writes into its folder."""
_PART: Final = re.compile(r"run\.part$|\.report\.(html|json)\.\d+\.part$")
"""Partial files, left by a run that was killed while it wrote."""


@dataclass(frozen=True, kw_only=True)
class Selection:
    """Which run folders to remove: those that match all given conditions.

    Attributes:
        older_than: seconds since the run began.
        keep: number of newest runs that stay.
        expected_only: remove only runs in which every claim was as expected.
    """

    older_than: float | None = None
    keep: int | None = None
    expected_only: bool = False

    @property
    def is_empty(self) -> bool:
        """Whether no condition is given, so that no run is removed."""
        return self.older_than is None and self.keep is None and not self.expected_only


def find_runs(runs: Path, selection: Selection, now: float | None = None) -> list[Item]:
    """Return every run folder directly in `runs`, newest first; `now` is in seconds since 1970."""
    now = time.time() if now is None else now
    found: list[tuple[Path, RunRecord]] = []
    for path in sorted(runs.glob(f"*/{RUN_FILE}")):
        folder = path.parent
        if folder.is_symlink():
            continue
        try:
            found.append((folder, RunRecord.load(folder)))
        except UnreadableRun:
            continue
    found.sort(key=lambda each: each[1].wall_ns, reverse=True)
    busy = in_use(folder for folder, _ in found)
    return [
        Item(
            name=str(folder),
            size=size_of(folder),
            detail=f"{_age(now - record.wall_ns / 1e9)} old",
            stays=_reason_to_keep(folder, record, selection, place, now, folder in busy),
            remove=partial(shutil.rmtree, folder),
        )
        for place, (folder, record) in enumerate(found)
    ]


def in_use(folders: Iterable[Path]) -> set[Path]:
    """Return the folders in which a process has an open file or its working directory."""
    wanted = {str(folder.resolve()): folder for folder in folders}
    busy = set()
    for pid in proc.pids():
        for path in proc.open_paths(pid):
            busy |= {f for name, f in wanted.items() if f"{path}/".startswith(f"{name}/")}
    return busy


def _reason_to_keep(
    folder: Path, record: RunRecord, selection: Selection, place: int, now: float, busy: bool
) -> str | None:
    if busy:
        return "is in use"
    if record.run != folder.name:
        return f"was named {record.run} when it was created"
    strange = sorted(n for n in os.listdir(folder) if n not in _CREATED and not _PART.match(n))
    if strange:
        return f"contains {strange[0]}, which no run creates"
    if selection.is_empty:
        return "is not selected"
    if selection.keep is not None and place < selection.keep:
        return f"is one of the newest {selection.keep}"
    if selection.older_than is not None and now - record.wall_ns / 1e9 < selection.older_than:
        return "is not old enough"
    if selection.expected_only and not _as_expected(folder):
        return "was not judged, or was not as expected"
    return None


def _as_expected(folder: Path) -> bool:
    try:
        return load(folder).expected is True
    except UnreadableReport:
        return False


def _age(seconds: float) -> str:
    for length, word in ((86_400, "days"), (3_600, "hours"), (60, "minutes")):
        if seconds >= 2 * length:
            return f"{seconds / length:.0f} {word}"
    return f"{max(0, seconds):.0f} seconds"
