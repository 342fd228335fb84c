"""What every record must come to in the sinks of a subject, written down before anything runs.

It is computed from the workload alone, apart from the code on trial. What a
payment comes to, or adds to a balance, the subject may say itself.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from onceproof.harness.context.subject import Subject
from onceproof.harness.history.writer import HistoryWriter
from onceproof.harness.workload.base import Workload
from onceproof.harness.workload.contributions import (
    Contributes,
    Contribution,
    KeepsState,
    SaysEffects,
    total_and_count,
)
from onceproof.harness.workload.payments import Payment, Payments, payments_of


def write_expected(
    history: Path, subject: Subject, workload: Workload, seed: int
) -> tuple[Counter[str], Counter[str]]:
    """Write the tables `expected` and `contributions`; returns how many rows of each sink.

    Args:
        history: folder of the run's history.
        subject: whose sinks.
        workload: what is sent.
        seed: draws it.
    """
    writer = HistoryWriter(history, "workload")
    expected, contributions = Counter[str](), Counter[str]()
    for n in range(workload.producers):
        payments: list[Payment] = []
        if isinstance(workload, Payments):
            # What is sent again must come to the same: it is said of the record.
            payments = list(dict.fromkeys(payments_of(workload, producer=n, seed=seed)))
        for sink in subject.sinks:
            rows = (
                _said(subject, sink, payments)
                if isinstance(subject, SaysEffects)
                else workload.expected(producer=n, seed=seed, sink=sink)
            )
            writer.write_all("expected", _counted(rows, expected))
            if isinstance(workload, Contributes):
                own = workload.contributed(producer=n, seed=seed, sink=sink)
                writer.write_all("contributions", _counted(own, contributions))
        added = (row for payment in payments for row in _contributions(subject, payment))
        writer.write_all("contributions", _counted(added, contributions))
    writer.close()
    return expected, contributions


def _counted(rows: Iterable[dict[str, Any]], count: Counter[str]) -> Iterator[dict[str, Any]]:
    for row in rows:
        count[row["sink"]] += 1
        yield row


def _said(subject: SaysEffects, sink: str, payments: Sequence[Payment]) -> Iterator[dict[str, Any]]:
    for record, digest in subject.yields(payments):
        yield {"sink": sink, "record": record, "effect_key": "", "digest": digest}


def _contributions(subject: Subject, payment: Payment) -> Iterator[dict[str, Any]]:
    found: list[Contribution] = []
    if subject.balances:
        found += total_and_count(subject.sink, payment.account, payment)
    if isinstance(subject, KeepsState):
        found += subject.contributions(payment)
    for each in found:
        yield {"record": payment.record, **asdict(each)}
