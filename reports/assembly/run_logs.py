"""Open the logs of a run folder. No other module here reads files."""

from __future__ import annotations

from pathlib import Path

from onceproof.harness.history.run_record import RunRecord
from onceproof.reports.assembly.tables import Clock, History, rows
from onceproof.reports.log_files import LogFiles


def run_logs(folder: Path, record: RunRecord, history: History) -> LogFiles:
    """Return the logs in a folder, with the start times of their writers from the history."""
    clock = Clock(id=record.clock, origin_ns=record.monotonic_ns)
    origin = record.wall_ns / 1e9
    started = {
        row["instance"].replace("#", "."): origin + at
        for row in rows(history, "instances")
        if (at := clock.seconds(row["started_at"], row["clock"])) is not None
    }
    return LogFiles(folder, started)
