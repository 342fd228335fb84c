"""What is written in one transaction: a row for each payment, and what they come to."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from confluent_kafka import Message

from onceproof.harness.subjects.group.effect import effect_of


@dataclass(frozen=True, kw_only=True)
class Batch:
    """Payments of one topic that were read in one go.

    Attributes:
        rows: record, account, amount and fee in cents, partition and offset of each.
        starts: partition → the offset that was to be read next before.
        ends: partition → the offset to be read next after it.
    """

    topic: str
    rows: tuple[tuple[str, str, int, int, int, int], ...]
    starts: Mapping[int, int]
    ends: Mapping[int, int]

    def totals(self) -> list[tuple[str, int, int]]:
        """Account, sum in cents and number of payments, of each account.

        In the order of accounts: two who lock rows in different orders lock each other out.
        """
        found: dict[str, tuple[int, int]] = {}
        for _, account, amount, *_ in self.rows:
            total, count = found.get(account, (0, 0))
            found[account] = (total + amount, count + 1)
        return [(account, *found[account]) for account in sorted(found)]


def batch_of(topic: str, read: Iterable[Message], starts: Mapping[int, int]) -> Batch:
    """The batch of these messages.

    Args:
        topic: where they came from.
        read: messages, each partition's in the order of its log.
        starts: partition → offset to be read next, of every partition that may be written for;
            messages of others are left out.
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
