"""The payments workload: the records, and the effect that each must have.

Runs with the same seed send the same payments, with and without transactions or event times. The
expected effects are computed here, independently of the pipeline's code.

No fault can make a payment with an event time late: one producer writes them to one partition in
order, and none is more than `disorder_ms` behind an earlier one. The event time of the last payment
is far in the future, which closes every window before it.
"""

from __future__ import annotations

import json
import random
from collections import deque
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any, Final

from onceproof.harness.history.identity import digest
from onceproof.harness.workload.contributions import Transforms
from onceproof.harness.workload.task_file import SenderRecord

EFFECT_COLUMNS = ("record", "account", "amount_cents", "fee_cents")
"""The content of an effect, in the order of its digest."""
EVENTS_BEGIN_MS: Final = 1_767_225_600_000
"""Approximate event time of the first payment: 2026-01-01 UTC."""
CLOSING_MS: Final = 1_893_456_000_000
"""Event time of the last payment: 2030-01-01 UTC."""
REPEATS_BEHIND: Final = 20
"""A repeated record is one of this many latest records."""


@dataclass(frozen=True, kw_only=True)
class Payments:
    """A workload of payments.

    Attributes:
        keys: number of accounts, which are the record keys.
        rate: records per second, over all producers, while faults are active.
        other_topic: a second topic for every other record, with as many partitions.
        transaction: records per transaction; 0: no transactions.
        aborts: percentage of transactions to abort on purpose.
        event_step_ms: event time between payments; 0: payments have no event time.
        disorder_ms: maximum random amount by which an event time is earlier.
        refunds: whether each payment is followed by its refund, in the other topic.
        repeats: percentage of records that repeat one of the last `REPEATS_BEHIND`, with the same
            event time.
    """

    records: int = 20_000
    producers: int = 2
    keys: int = 64
    partitions: int = 3
    topic: str = "payments"
    rate: int = 400
    other_topic: str | None = None
    transaction: int = 0
    aborts: int = 0
    event_step_ms: int = 0
    disorder_ms: int = 0
    refunds: bool = False
    repeats: int = 0
    trickle = 0.02
    sentinels = 0
    rounds = 1

    def __post_init__(self) -> None:
        for name in ("producers", "keys", "partitions", "rate"):
            if getattr(self, name) < 1:
                raise ValueError(f"Payments({name}={getattr(self, name)}): must be at least 1")
        if self.records < 0:
            raise ValueError(f"Payments(records={self.records}): must not be negative")
        if self.transaction < 0:
            raise ValueError(f"Payments(transaction={self.transaction}): must not be negative")
        if not 0 <= self.aborts <= 100:
            raise ValueError(f"Payments(aborts={self.aborts}): must be from 0 to 100")
        if self.aborts and not self.transaction:
            raise ValueError("Payments(aborts=…): requires transaction")
        if self.event_step_ms < 0 or self.disorder_ms < 0:
            raise ValueError("Payments(event_step_ms=…, disorder_ms=…): must not be negative")
        if self.disorder_ms and not self.event_step_ms:
            raise ValueError("Payments(disorder_ms=…): requires event_step_ms")
        if self.event_step_ms and (self.producers, self.partitions) != (1, 1):
            raise ValueError(
                "Payments(event_step_ms=…): expected producers=1 and partitions=1; with several, a "
                "fault can delay one, and its records then arrive late"
            )

        if self.refunds and (self.other_topic is None or self.records % 2):
            raise ValueError(
                "Payments(refunds=True): expected other_topic and an even number of records"
            )
        if not 0 <= self.repeats < 100 or (self.refunds and self.repeats):
            raise ValueError(
                f"Payments(repeats={self.repeats}): must be from 0 to 99, and 0 with refunds"
            )

    @property
    def topics(self) -> tuple[str, ...]:
        return (self.topic,) if self.other_topic is None else (self.topic, self.other_topic)

    def sends(self, *, producer: int, seed: int) -> Iterator[SenderRecord]:
        draw = random.Random(f"{seed}/aborts/{producer}")
        abort = False
        for n, payment in enumerate(payments_of(self, producer=producer, seed=seed)):
            if self.transaction and n % self.transaction == 0:
                abort = draw.randrange(100) < self.aborts
            yield SenderRecord(
                record=payment.record,
                topic=self.topics[n % len(self.topics)],
                key=payment.account,
                value=payment.value.decode(),
                digest=payment.digest,
                transaction=n // self.transaction if self.transaction else None,
                abort=abort,
            )

    def expected(
        self, subject: Transforms, *, producer: int, seed: int
    ) -> Iterator[dict[str, Any]]:
        for record, content in subject.yields(self._distinct(producer, seed)):
            for sink in subject.sinks:
                yield {"sink": sink, "record": record, "effect_key": "", "digest": content}

    def contributed(
        self, subject: Transforms, *, producer: int, seed: int
    ) -> Iterator[dict[str, Any]]:
        for payment in self._distinct(producer, seed):
            for each in subject.contributions(payment):
                yield {"record": payment.record, **asdict(each)}

    def _distinct(self, producer: int, seed: int) -> list[Payment]:
        return list(dict.fromkeys(payments_of(self, producer=producer, seed=seed)))


@dataclass(frozen=True)
class Payment:
    """One record of the workload."""

    record: str
    account: str
    amount_cents: int
    note: str
    event_ms: int | None = None
    refund_of: str | None = None

    @property
    def closes(self) -> bool:
        """Whether it is the last payment of its topic, which closes all windows."""
        return self.event_ms == CLOSING_MS

    @property
    def key(self) -> bytes:
        return self.account.encode()

    @property
    def value(self) -> bytes:
        fields = {
            "record": self.record,
            "account": self.account,
            "amount_cents": self.amount_cents,
            "note": self.note,
        }
        for name in ("event_ms", "refund_of"):
            if (value := getattr(self, name)) is not None:
                fields[name] = value
        return json.dumps(fields).encode()

    @property
    def digest(self) -> str:
        return digest(self.key, self.value)

    @property
    def effect_digest(self) -> str:
        return digest(self.record, self.account, self.amount_cents, fee(self.amount_cents))


def fee(amount_cents: int) -> int:
    """Compute the fee, as the pipeline under test must: 2.9 %, rounded down, plus 30 cents."""
    return amount_cents * 29 // 1000 + 30


def payments_of(workload: Payments, *, producer: int, seed: int) -> Iterator[Payment]:
    draw = random.Random(f"{seed}/payments/{producer}")
    count = workload.records // workload.producers
    count += producer < workload.records % workload.producers
    times = _event_times(workload, count, seed)
    repeats = random.Random(f"{seed}/repeats/{producer}")
    sent: deque[Payment] = deque(maxlen=REPEATS_BEHIND)
    for n in range(count):
        payment = Payment(
            record=f"p{producer}-{n:06d}",
            account=f"account-{draw.randrange(workload.keys):03d}",
            amount_cents=draw.randrange(100, 1_000_000),
            note=f"{draw.getrandbits(256):064x}",
            event_ms=next(times),
            refund_of=sent[-1].record if workload.refunds and n % 2 else None,
        )
        if sent and n < count - 1 and repeats.randrange(100) < workload.repeats:
            payment = sent[repeats.randrange(len(sent))]
        sent.append(payment)
        yield payment


def _event_times(workload: Payments, count: int, seed: int) -> Iterator[int | None]:
    """Yield event times from a separate random stream, so that payments do not depend on them."""
    draw = random.Random(f"{seed}/events")
    for n in range(count):
        if not workload.event_step_ms:
            yield None
        elif n >= count - len(workload.topics):
            yield CLOSING_MS
        else:
            behind = draw.randrange(workload.disorder_ms + 1)
            yield EVENTS_BEGIN_MS + n * workload.event_step_ms - behind
