"""An instance of an application with Quix Streams: `quix_streams.py TASK`.

It reads payments, and writes to another topic each with its fee, or the account's balance from a
state store. If the library gives up, the process ends, and its supervisor starts it again.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from quixstreams import Application, State  # type: ignore[import-not-found]

RECORD = "onceproof-record"
HUNG_SECONDS = 15.0
LOOKS = 20
"""Looks within that time; they are counted, because a paused program cannot make progress."""
HUNG = 4
"""Exit code."""


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


def commit_of(thread: int) -> object:
    """Return the frame of the library's commit in which a thread is, or None."""
    frame = sys._current_frames().get(thread)
    while frame is not None and frame.f_code.co_name != "commit_checkpoint":
        frame = frame.f_back
    return frame


def watch(thread: int) -> None:
    """End the program when a commit hangs, as the liveness probe of a deployment does.

    librdkafka may wait forever for a coordinator that is gone: docs/findings/ has more.
    """
    pause, met, looks = threading.Event(), None, 0
    while not pause.wait(HUNG_SECONDS / LOOKS):
        now = commit_of(thread)
        looks = looks + 1 if now is not None and now is met else 0
        met = now
        if looks > LOOKS:
            sys.stderr.write(f"a commit hung for {HUNG_SECONDS:g} s\n")
            sys.stderr.flush()
            os._exit(HUNG)


def main() -> None:
    """Run the application until it fails."""
    threading.Thread(target=watch, args=[threading.get_ident()], daemon=True).start()
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
