"""What every record must come to in the sinks of a subject, written down before anything runs.

The one thing to know: it is computed from the workload alone, apart from the code on trial.
"""

from __future__ import annotations

from pathlib import Path

from harness.recording.writer import HistoryWriter
from harness.subjects.base import Subject
from harness.workload.base import Workload


def write_expected(history: Path, subject: Subject, workload: Workload, seed: int) -> None:
    """Write the tables `expected` and `contributions`.

    Args:
        history: folder of the run's history.
        subject: whose sinks.
        workload: what is sent.
        seed: draws it.
    """
    writer = HistoryWriter(history, "workload")
    for n in range(workload.producers):
        for sink in subject.sinks:
            rows = workload.expected(producer=n, seed=seed, sink=sink)
            writer.write_all("expected", list(rows))
        if subject.balances:
            rows = workload.contributions(producer=n, seed=seed, sink=subject.sink)
            writer.write_all("contributions", list(rows))
    writer.close()
