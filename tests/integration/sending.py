"""Send payments to the queue broker of a stage."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from onceproof.harness.stage.alone import Alone
from onceproof.harness.tools.setup import ensure
from onceproof.harness.wait import Stop
from onceproof.harness.workload.control import Producers
from onceproof.harness.workload.payments import Payments
from onceproof.harness.workload.senders.base import Sender
from onceproof.harness.workload.senders.jms import JMS


def send_payments(
    up: Alone, folder: Path, seed: int, topic: str = "payments", sender: Sender = JMS
) -> set[str]:
    """Send payments; return the acknowledged records."""
    history = folder / "history"
    history.mkdir()
    producers = Producers(
        workload=Payments(records=40, producers=2, partitions=1, topic=topic),
        seed=seed,
        bootstrap=up.stage.queue_broker("producer"),
        processes=up.processes,
        history=history,
        work=folder,
        stop=Stop(),
        sender=sender,
        tools=ensure(),
    )
    producers.start()
    producers.pace.warmed_up()
    producers.pace.hurry()
    producers.wait_finished(60)
    lines = [json.loads(t) for f in history.iterdir() for t in f.read_text().splitlines()]
    calls: dict[str, Any] = {row["attempt"]: row for row in lines if row["t"] == "called"}
    returned = [row for row in lines if row["t"] == "returned"]
    assert {row["outcome"] for row in returned} == {"ok"}
    return {calls[row["attempt"]]["record"] for row in returned}
