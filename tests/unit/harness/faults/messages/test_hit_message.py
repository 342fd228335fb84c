"""When an end that its client never heard of is a hazard, with gates that are made up."""

from __future__ import annotations

from typing import Any

import pytest

from onceproof.harness.context.run_context import Collected
from onceproof.harness.faults.messages.hit_message import HitMessage
from onceproof.harness.faults.messages.message import Message
from onceproof.harness.kafka.errors import error_name
from onceproof.harness.links.gate.rules import Action, Direction
from onceproof.harness.links.topology import Link
from tests.unit.fakes.run_context import FakeContext, FakeRecorder, Hazard
from tests.unit.fakes.stage import FakeGate, FakeStage


def hazards(
    event: dict[str, Any],
    *,
    source: str = "producer",
    direction: Direction = "response",
    action: Action = "drop",
) -> list[Hazard]:
    told = {
        "at": 7, "api": "EndTxn", "direction": direction, "correlation_id": 1, "version": 5,
        "client_id": "it", "link": "a link", **event,
    }  # fmt: skip
    stage = FakeStage(gates={Link(source, "broker-1"): FakeGate(fired=[told])})
    context = FakeContext(stage=stage, recorder=(recorder := FakeRecorder()))
    fault = HitMessage(
        message=Message(source=source, direction=direction, api="EndTxn"), action=action
    )
    injection = fault.inject(context, "hit")
    assert injection.evidence()
    injection.after_collect(Collected(returned={}))
    return recorder.hazards


DONE = {"commits": True, "error": error_name(0)}


@pytest.mark.parametrize(("source", "hop"), [("producer", "produce"), ("pipeline", "process")])
def test_a_commit_that_was_done(source: str, hop: str) -> None:
    (hazard,) = hazards(DONE, source=source)
    assert (hazard.hazard, hazard.hop, hazard.at) == ("unknown-end", hop, 7)


@pytest.mark.parametrize(
    ("event", "more"),
    [
        ({"commits": False, "error": error_name(0)}, {}),
        ({"commits": True, "error": "NotCoordinatorError"}, {}),
        ({"commits": None, "error": None}, {}),
        ({"commits": True}, {"direction": "request"}),
        (DONE, {"action": "hold"}),
    ],
)
def test_what_is_no_hazard(event: dict[str, Any], more: dict[str, Any]) -> None:
    assert hazards(event, **more) == []
