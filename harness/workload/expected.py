"""What every payment must come to in the sinks of a subject, written down before anything runs.

The one thing to know: it is computed from the workload alone, apart from the code on trial. A
payment has its one effect, or adds to the balance of its account, or to whatever the subject says.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from harness.recording.writer import HistoryWriter
from harness.subjects.base import Subject
from harness.workload.contributions import (
    Contribution,
    KeepsState,
    SaysEffects,
    total_and_count,
)
from harness.workload.payments import Payment, Payments, payments_of


def write_expected(history: Path, subject: Subject, workload: Payments, seed: int) -> None:
    """Write the tables `expected` and `contributions`.

    Args:
        history: folder of the run's history.
        subject: whose sinks.
        workload: what is sent.
        seed: draws it.
    """
    writer = HistoryWriter(history, "workload")
    for producer in range(workload.producers):
        # What is sent again must come to the same: it is said of the record.
        payments = list(dict.fromkeys(payments_of(workload, producer=producer, seed=seed)))
        for sink in subject.sinks:
            writer.write_all("expected", _effects(subject, sink, payments))
        rows = (row for payment in payments for row in _contributions(subject, payment))
        writer.write_all("contributions", rows)
    writer.close()


def _effects(subject: Subject, sink: str, payments: Sequence[Payment]) -> Iterator[dict[str, Any]]:
    yields = (
        subject.yields(payments)
        if isinstance(subject, SaysEffects)
        else ((payment.record, payment.effect_digest) for payment in payments)
    )
    for record, digest in yields:
        yield {"sink": sink, "record": record, "effect_key": "", "digest": digest}


def _contributions(subject: Subject, payment: Payment) -> Iterator[dict[str, Any]]:
    found: list[Contribution] = []
    if subject.balances:
        found += total_and_count(subject.sink, payment.account, payment)
    if isinstance(subject, KeepsState):
        found += subject.contributions(payment)
    for each in found:
        yield {"record": payment.record, **asdict(each)}
