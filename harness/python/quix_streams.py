"""An instance of an application with Quix Streams: `quix_streams.py TASK`.

It reads payments, and writes to another topic each with its fee, or the account's balance from a
state store. If the library gives up, the process ends, and its supervisor starts it again.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from quixstreams import Application, State  # type: ignore[import-not-found]

RECORD = "onceproof-record"


def effect(payment: dict[str, Any]) -> dict[str, Any]:
    """Return a payment with its fee: 2.9 %, rounded down, and 30 cents.

    It is code of the pipeline on trial; harness/workload/payments.py has the expectation.
    """
    amount = payment["amount_cents"]
    return {
        "record": payment["record"],
        "account": payment["account"],
        "amount_cents": amount,
        "fee_cents": amount * 29 // 1000 + 30,
    }


def added(balance: dict[str, int] | None, payment: dict[str, Any]) -> dict[str, int]:
    """Return the balance of an account: the sum, in cents, and the number of its payments."""
    before = balance or {"balance": 0, "payments": 0}
    return {
        "balance": before["balance"] + payment["amount_cents"],
        "payments": before["payments"] + 1,
    }


def in_store(payment: dict[str, Any], state: State) -> dict[str, int]:
    """Return the balance after a payment; it is kept in the library's state."""
    after = added(state.get("balance"), payment)
    state.set("balance", after)
    return after


def in_variable() -> Callable[[dict[str, Any]], dict[str, int]]:
    """Return what the broken twin does: a restarted program begins with nothing."""
    balances: dict[str, dict[str, int]] = {}

    def process(payment: dict[str, Any]) -> dict[str, int]:
        account = payment["account"]
        balances[account] = added(balances.get(account), payment)
        return balances[account]

    return process


def identity(value: Any, key: Any, timestamp: int, headers: Any) -> list[tuple[str, bytes]]:
    """Return the header that names the record: an effect carries its payment's."""
    return [(name, text) for name, text in headers or () if name == RECORD]


def main() -> None:
    """Run the application until it fails."""
    task = json.loads(Path(sys.argv[1]).read_text())
    settings = task["settings"]
    named = {"client.id": task["name"]}
    app = Application(
        broker_address=task["bootstrap"],
        consumer_group=task["group"],
        state_dir=task["state"],
        consumer_extra_config={**settings["consumer"], **named},
        producer_extra_config={**settings["producer"], **named},
        **settings["application"],
    )
    source = app.topic(task["topic"], key_deserializer="bytes", value_deserializer="json")
    sink = app.topic(task["sink"], key_serializer="bytes", value_serializer="json")
    frame = app.dataframe(source)
    if not task["balances"]:
        frame = frame.apply(effect)
    elif settings["variable"]:
        frame = frame.apply(in_variable())
    else:
        frame = frame.apply(in_store, stateful=True)
    frame.set_headers(identity).to_topic(sink)
    app.run()


if __name__ == "__main__":
    main()
