"""What all lanes have in common whose client reads payments and adds a fee."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from onceproof.harness.explore.bench.lanes.reader import PARTITIONS, Input, ReaderLane
from onceproof.harness.workload.contributions import Transforms
from onceproof.harness.workload.payments import Payments, payments_of


@dataclass(kw_only=True)
class PaymentsLane(ReaderLane):
    """A client that reads payments; its inputs come in turn to all partitions."""

    @property
    def _payments(self) -> Payments:
        return Payments(records=self.size, producers=1)

    def inputs(self) -> Iterable[Input]:
        return (
            Input(record=p.record, key=p.key, value=p.value, partition=n % PARTITIONS)
            for n, p in enumerate(payments_of(self._payments, producer=0, seed=0))
        )

    def expected_of(self, subject: Transforms) -> Iterable[Mapping[str, Any]]:
        """Return the effects that a subject has of all payments."""
        return self._payments.expected(subject, producer=0, seed=0)
