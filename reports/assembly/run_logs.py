"""The logs of a run folder, with what the history knows of their writers.

The only place here that touches files; whoever has no folder does without.
"""

from __future__ import annotations

from pathlib import Path

from onceproof.harness.history.run_record import RunRecord
from onceproof.reports.assembly.tables import Clock, History, rows
from onceproof.reports.log_files import LogFiles


def run_logs(folder: Path, record: RunRecord, history: History) -> LogFiles:
    """The logs in a folder, each with the time at which its writer was started."""
    clock = Clock(id=record.clock, origin_ns=record.monotonic_ns)
    origin = record.wall_ns / 1e9
    started = {
        row["instance"].replace("#", "."): origin + at
        for row in rows(history, "instances")
        if (at := clock.seconds(row["started_at"], row["clock"])) is not None
    }
    return LogFiles(folder, started)
