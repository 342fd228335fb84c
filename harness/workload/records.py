"""The records of one sender, as its program gets them.

The one thing to know: which transaction is aborted on purpose is drawn here, from the seed and
apart from the payments, so that the same payments are sent with transactions and without.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

from harness.workload.payments import Payments, payments_of
from harness.workload.task_file import SenderRecord


def records_of(workload: Payments, *, producer: int, seed: int) -> Iterator[SenderRecord]:
    """What one producer sends, in order: every other record to the other topic, if there is one."""
    draw = random.Random(f"{seed}/aborts/{producer}")
    abort = False
    for n, payment in enumerate(payments_of(workload, producer=producer, seed=seed)):
        if workload.transaction and n % workload.transaction == 0:
            abort = draw.randrange(100) < workload.aborts
        yield SenderRecord(
            record=payment.record,
            topic=workload.topics[n % len(workload.topics)],
            key=payment.account,
            value=payment.value.decode(),
            digest=payment.digest,
            transaction=n // workload.transaction if workload.transaction else None,
            abort=abort,
        )
