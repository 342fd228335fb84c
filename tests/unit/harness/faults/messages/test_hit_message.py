"""When a lost answer to EndTxn is a hazard."""

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
    decision: dict[str, Any] | None = None,
    still_held: bool = True,
) -> list[Hazard]:
    fired_event = {
        "at": 7, "api": "EndTxn", "direction": direction, "correlation_id": 1, "version": 5,
        "client_id": "it", "link": f"{source}→broker-1", "connection": 3, **event,
    }  # fmt: skip
    gate = FakeGate(fired=[fired_event], held=[fired_event] if still_held else [])
    stage = FakeStage(gates={Link(source, "broker-1"): gate})
    context = FakeContext(stage=stage, recorder=(recorder := FakeRecorder()))
    fault = HitMessage(
        message=Message(source=source, direction=direction, api="EndTxn"), action=action
    )
    injection = fault.inject(context, "hit")
    assert injection.evidence()
    if decision is not None:
        assert injection.holding
        assert injection.decide(**decision) is still_held
        wanted = decision.get("drop", False), decision.get("error")
        assert gate.removed == [wanted], "the gate carries it out"
        assert not injection.holding
        assert not injection.decide(**decision), "there is nothing left to decide on"
        word = "drop" if wanted[0] else f"error {wanted[1]}"
        decided = still_held and wanted != (False, None)
        assert (f", then {word}" in str(injection.evidence())) is decided
    injection.after_collect(Collected(returned={}))
    return recorder.hazards


COMMITTED = {"commits": True, "error": error_name(0)}


@pytest.mark.parametrize(("source", "hop"), [("producer", "produce"), ("pipeline", "process")])
def test_lost_answer_to_a_successful_commit_is_a_hazard(source: str, hop: str) -> None:
    (hazard,) = hazards(COMMITTED, source=source)
    assert (hazard.hazard, hazard.hop, hazard.at) == ("unknown-end", hop, 7)


@pytest.mark.parametrize("decision", [{"drop": True}, {"error": "NOT_COORDINATOR"}])
def test_held_answer_that_is_then_lost_is_a_hazard(decision: dict[str, Any]) -> None:
    (hazard,) = hazards(COMMITTED, action="hold", decision=decision)
    assert hazard.hazard == "unknown-end"


@pytest.mark.parametrize(
    ("event", "more"),
    [
        ({"commits": False, "error": error_name(0)}, {}),
        ({"commits": True, "error": "NotCoordinatorError"}, {}),
        ({"commits": None, "error": None}, {}),
        ({"commits": True}, {"direction": "request"}),
        (COMMITTED, {"action": "hold"}),
        (COMMITTED, {"action": "hold", "decision": {}}),
        # The gate had passed it on before, or lost it with the broker.
        (COMMITTED, {"action": "hold", "decision": {"drop": True}, "still_held": False}),
    ],
)
def test_other_hits_are_no_hazard(event: dict[str, Any], more: dict[str, Any]) -> None:
    assert hazards(event, **more) == []


def test_fault_that_has_met_no_message_stays_armed() -> None:
    gate = FakeGate()
    stage = FakeStage(gates={Link("producer", "broker-1"): gate})
    fault = HitMessage(
        message=Message(source="producer", direction="request", api="EndTxn"), action="hold"
    )
    injection = fault.inject(FakeContext(stage=stage, recorder=FakeRecorder()), "hit")
    assert not injection.decide(drop=True)
    assert (len(gate.rules), gate.removed) == (1, [])
