"""Compute every record's expected effect from the workload alone, before anything runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from onceproof.harness.context.subject import Subject
from onceproof.harness.history.writer import HistoryWriter
from onceproof.harness.workload.base import Workload


def write_expected(
    history: Path, subject: Subject, workload: Workload, seed: int
) -> tuple[Counter[str], Counter[str]]:
    """Write the tables `expected` and `contributions`; return their numbers of rows by sink."""
    writer = HistoryWriter(history, "workload")
    expected, contributions = Counter[str](), Counter[str]()
    for n in range(workload.producers):
        effects = workload.expected(subject, producer=n, seed=seed)
        writer.write_all("expected", _counted(effects, expected))
        added = workload.contributed(subject, producer=n, seed=seed)
        writer.write_all("contributions", _counted(added, contributions))
    writer.close()
    return expected, contributions


def _counted(rows: Iterable[dict[str, Any]], count: Counter[str]) -> Iterator[dict[str, Any]]:
    for row in rows:
        count[row["sink"]] += 1
        yield row
