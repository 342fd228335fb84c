"""Generate matching orders and payments: each order has one payment that carries its identity.

Both use that identity as their message key, so they are in partitions of the same number.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Final

from onceproof.harness.user_pipeline.input_file import InputRecord
from onceproof.harness.user_pipeline.made_up_orders import ORDER_ID, MadeUp, orders_made_up

PAYMENT_ID: Final = "payment_id"
_METHODS: Final = ("card", "transfer", "voucher")
_GROUP: Final = 8
"""Payments are reversed in groups of this size, so half of them precede their orders."""


@lru_cache(maxsize=2)
def matching_orders(records: int, seed: int) -> Sequence[InputRecord]:
    """Return generated orders with their identity as message key."""
    made = orders_made_up(MadeUp(records=records), seed)
    return [replace(order, key=order.identity) for order in made]


@lru_cache(maxsize=2)
def matching_payments(records: int, seed: int) -> Sequence[InputRecord]:
    made = []
    for n, order in enumerate(matching_orders(records, seed)):
        content = json.loads(order.value or "")
        payment = {
            PAYMENT_ID: f"payment-{n:06d}",
            ORDER_ID: order.identity,
            "method": _METHODS[n % len(_METHODS)],
            "paid_cents": content["amount_cents"],
        }
        made.append(
            InputRecord(identity=payment[PAYMENT_ID], key=order.identity, value=json.dumps(payment))
        )
    groups = [made[n : n + _GROUP] for n in range(0, len(made), _GROUP)]
    return [payment for group in groups for payment in reversed(group)]
