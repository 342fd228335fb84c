"""The content of one transaction: a row per payment, and the changes of balances."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from confluent_kafka import Message

from onceproof.harness.subjects.group.effect import effect_of


@dataclass(frozen=True, kw_only=True)
class Batch:
    """Payments of one topic that were read together.

    Attributes:
        rows: record, account, amount and fee in cents, partition and offset of each.
        starts: partition → next offset before the batch.
        ends: partition → next offset after it.
    """

    topic: str
    rows: tuple[tuple[str, str, int, int, int, int], ...]
    starts: Mapping[int, int]
    ends: Mapping[int, int]

    def totals(self) -> list[tuple[str, int, int]]:
        """Return account, sum in cents and number of payments.

        Sorted by account: locking rows in different orders would cause deadlocks.
        """
        found: dict[str, tuple[int, int]] = {}
        for _, account, amount, *_ in self.rows:
            total, count = found.get(account, (0, 0))
            found[account] = (total + amount, count + 1)
        return [(account, *found[account]) for account in sorted(found)]


def batch_of(topic: str, read: Iterable[Message], starts: Mapping[int, int]) -> Batch:
    """Return the batch of these messages.

    Args:
        read: messages, in log order within each partition.
        starts: partition → next offset, for the partitions to write; messages of others are
            dropped.
    """
    rows, ends = [], {}
    for message in read:
        partition, offset = message.partition(), message.offset()
        if partition is None or offset is None or partition not in starts:
            continue
        effect = json.loads(effect_of(message.value() or b""))
        rows.append(
            (
                effect["record"],
                effect["account"],
                effect["amount_cents"],
                effect["fee_cents"],
                partition,
                offset,
            )
        )
        ends[partition] = offset + 1
    return Batch(
        topic=topic, rows=tuple(rows), starts={p: starts[p] for p in sorted(ends)}, ends=ends
    )
