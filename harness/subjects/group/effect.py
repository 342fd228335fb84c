"""What a member makes of a payment: the same effect in every language and with every commit."""

from __future__ import annotations

import json

from onceproof.harness.workload.payments import fee


def effect_of(value: bytes) -> bytes:
    """The payment with its fee, as JSON."""
    payment = json.loads(value)
    return json.dumps(
        {
            "record": payment["record"],
            "account": payment["account"],
            "amount_cents": payment["amount_cents"],
            "fee_cents": fee(payment["amount_cents"]),
        }
    ).encode()
