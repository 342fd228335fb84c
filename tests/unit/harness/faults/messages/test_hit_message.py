"""When an end that its client never heard of is a hazard, with gates that are made up."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from onceproof.harness.context.run_context import Collected
from onceproof.harness.faults.messages import hit_message
from onceproof.harness.faults.messages.hit_message import HitMessage
from onceproof.harness.faults.messages.message import Message
from onceproof.harness.kafka.errors import error_name
from onceproof.harness.links.gate.rules import Action, Direction


def hazards(
    monkeypatch: pytest.MonkeyPatch,
    event: dict[str, Any],
    *,
    source: str = "producer",
    direction: Direction = "response",
    action: Action = "drop",
) -> list[dict[str, Any]]:
    told = {
        "at": 7, "api": "EndTxn", "direction": direction, "correlation_id": 1, "version": 5,
        "client_id": "it", "link": "a link", **event,
    }  # fmt: skip
    gates = SimpleNamespace(fired=lambda: [told], links=(), remove=lambda: None)
    monkeypatch.setattr(hit_message, "AtGates", lambda *given: gates)
    found: list[dict[str, Any]] = []
    recorder = SimpleNamespace(hazard=lambda kind, **more: found.append({"kind": kind, **more}))
    context: Any = SimpleNamespace(recorder=recorder)
    fault = HitMessage(
        message=Message(source=source, direction=direction, api="EndTxn"), action=action
    )
    injection = fault.inject(context, "hit")
    assert injection.evidence()
    injection.after_collect(Collected(returned={}))
    return found


DONE = {"commits": True, "error": error_name(0)}


@pytest.mark.parametrize(("source", "hop"), [("producer", "produce"), ("pipeline", "process")])
def test_a_commit_that_was_done(monkeypatch: pytest.MonkeyPatch, source: str, hop: str) -> None:
    (hazard,) = hazards(monkeypatch, DONE, source=source)
    assert (hazard["kind"], hazard["hop"], hazard["at"]) == ("unknown-end", hop, 7)


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
def test_what_is_no_hazard(
    monkeypatch: pytest.MonkeyPatch, event: dict[str, Any], more: dict[str, Any]
) -> None:
    assert hazards(monkeypatch, event, **more) == []
