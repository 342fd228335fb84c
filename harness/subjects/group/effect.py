"""The effect of a payment: the same in every language and with every commit strategy."""

from __future__ import annotations

import json

from onceproof.harness.workload.payments import fee


def effect_of(value: bytes) -> bytes:
    payment = json.loads(value)
    return json.dumps(
        {
            "record": payment["record"],
            "account": payment["account"],
            "amount_cents": payment["amount_cents"],
            "fee_cents": fee(payment["amount_cents"]),
        }
    ).encode()
