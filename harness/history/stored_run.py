"""Read a finished run from a local or remote `Folder`, without writing to it.

This works for a finished run only: the lines of an unfinished one are read only on the local disk.
"""

from __future__ import annotations

from onceproof.checkers.folders import Folder
from onceproof.harness.history.folder import Loaded, is_unfinished, load_tables
from onceproof.harness.history.run_record import RUN_FILE, RunRecord
from onceproof.harness.history.tables import DamagedHistory


def load_stored(folder: Folder, *, unsealed: bool = False) -> tuple[RunRecord, Loaded]:
    """Read the record of a run and open its history; `unsealed` as in `RunFolder.load_history`.

    Raises:
        UnreadableRun, DamagedHistory, BadHistory: it is not a finished run, damaged or changed.
    """
    record = RunRecord.parse(folder.text(RUN_FILE), f"{folder.place}/{RUN_FILE}")
    if "history" not in folder.names():
        raise DamagedHistory(f"{folder.place} has no folder `history`: nothing was recorded")
    inside = folder.folder("history")
    if is_unfinished(inside.names()):
        raise DamagedHistory(
            f"{inside.place}: expected Parquet tables, found *.jsonl, because this run did not "
            "finish. Copy it to this machine, and use the copy."
        )
    return record, load_tables(folder, unsealed=unsealed)
