"""The records of one sender, as its program gets them: with transactions, or without."""

from __future__ import annotations

from collections.abc import Iterator

from harness.workload.payments import Payments, payments_of
from harness.workload.task_file import TaskRecord, in_transactions, plain


def records_of(workload: Payments, *, producer: int, seed: int) -> Iterator[TaskRecord]:
    """What one producer sends, in order."""
    payments = payments_of(workload, producer=producer, seed=seed)
    if not workload.transaction:
        return plain(payments, topic=workload.topic)
    return in_transactions(
        payments,
        topics=workload.topics,
        partitions=workload.partitions,
        size=workload.transaction,
        abort_every=workload.abort_every,
    )
