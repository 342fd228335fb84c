"""Duplicates that Artemis dropped, from its logs."""

from __future__ import annotations

from pathlib import Path

from onceproof.harness.artemis.auditor import dropped

LOGGED = """\
WARN AMQ222059: Duplicate message detected - message will not be routed. Message information:
CoreMessage[messageID=3, address=out, properties=[__AMQ_CID=x, onceproof_record=p0-1, _A=1]]
WARN AMQ222059: Duplicate message detected - message will not be routed. Message information:
CoreMessage[messageID=4, address=out-of-others, properties=[onceproof_record=p0-2]]
WARN something else
CoreMessage[messageID=5, address=out, properties=[onceproof_record=p0-3]]
WARN AMQ222059: Duplicate message detected - message will not be routed. Message information:
AMQPStandardMessage( [address=out, applicationProperties={onceproof_record=p0-4}]
"""


def test_dropped_duplicates_are_read_from_broker_logs(tmp_path: Path) -> None:
    logs = [tmp_path / "queue-broker.1.log", tmp_path / "queue-broker.2.log"]
    logs[0].write_text(LOGGED)
    logs[1].write_text("the broker is up\n")
    assert dropped(logs, "out") == ["p0-1", "p0-4"]
    assert dropped(logs, "payments") == []
