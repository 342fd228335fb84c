"""What every record must come to in the sinks of a subject, written down before anything runs.

The one thing to know: it is computed from the workload alone, apart from the code on trial. A
payment may also add to the balance of its account, or to whatever the subject says.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from harness.recording.writer import HistoryWriter
from harness.subjects.base import Subject
from harness.workload.base import Workload
from harness.workload.contributions import Contribution, KeepsState, total_and_count
from harness.workload.payments import Payment, Payments, payments_of


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
            writer.write_all("expected", workload.expected(producer=n, seed=seed, sink=sink))
        if isinstance(workload, Payments):
            payments = payments_of(workload, producer=n, seed=seed)
            rows = (row for payment in payments for row in _contributions(subject, payment))
            writer.write_all("contributions", rows)
    writer.close()


def _contributions(subject: Subject, payment: Payment) -> Iterator[dict[str, Any]]:
    found: list[Contribution] = []
    if subject.balances:
        found += total_and_count(subject.sink, payment.account, payment)
    if isinstance(subject, KeepsState):
        found += subject.contributions(payment)
    for each in found:
        yield {"record": payment.record, **asdict(each)}
