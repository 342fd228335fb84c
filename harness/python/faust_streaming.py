"""An instance of an application with faust-streaming: `faust_streaming.py TASK`.

It reads payments, and writes each with its fee to another topic. If the library gives up, the
process ends, and its supervisor starts it again.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import faust  # type: ignore[import-not-found]

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


def application(task: dict[str, Any]) -> faust.App:
    """Return the application of a task."""
    app = faust.App(
        task["group"],
        broker=[f"kafka://{each}" for each in task["bootstrap"].split(",")],
        broker_client_id=task["name"],
        datadir=task["state"],
        store="memory://",
        web_enabled=False,
        topic_disable_leader=True,
        **task["settings"],
    )
    raw = {"key_type": bytes, "key_serializer": "raw", "value_serializer": "json"}
    source = app.topic(task["topic"], **raw)
    sink = app.topic(task["sink"], **raw)

    @app.agent(source)  # type: ignore[untyped-decorator]
    async def process(stream: Any) -> None:
        async for event in stream.events():
            headers = {RECORD: dict(event.headers)[RECORD]}
            await sink.send(key=event.key, value=effect(event.value), headers=headers)

    return app


if __name__ == "__main__":
    app = application(json.loads(Path(sys.argv[1]).read_text()))
    faust.Worker(app, loglevel="WARNING").execute_from_commandline()
