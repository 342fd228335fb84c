"""What has passed in a client's transaction, with gates that are made up."""

from __future__ import annotations

from typing import Any

import pytest

from onceproof.harness.faults.messages.message import Message
from onceproof.harness.faults.messages.so_far import SoFar
from onceproof.harness.links.gate.rules import Rule
from onceproof.harness.links.topology import Link
from tests.unit.fakes.run_context import FakeContext
from tests.unit.fakes.stage import FakeGate, FakeStage

Event = dict[str, Any]


def event(at: int, request: int) -> Event:
    return {"at": at, "link": "a link", "connection": 1, "correlation_id": request}


def passed(passing: list[Event], ends: list[Event], now: Event) -> bool:
    class Gate(FakeGate):
        def put(self, rule: Rule) -> Any:
            return FakeGate(fired=ends if rule.message.api == "EndTxn" else passing)

    context = FakeContext(stage=FakeStage(gates={Link("pipeline", "broker-1"): Gate()}))
    message = Message(source="pipeline", direction="response", api="Produce", client_id="it")
    return SoFar(context, message).passed(now)


@pytest.mark.parametrize(
    ("passing", "ends", "expected"),
    [
        ([], [], False),
        ([event(1, 1)], [], True),
        ([event(1, 1)], [event(2, 2)], False),
        ([event(1, 1), event(3, 3)], [event(2, 2)], True),
        ([event(1, 1), event(3, 3)], [event(2, 2), event(4, 4)], False),
    ],
)
def test_only_what_came_since_the_last_end(
    passing: list[Event], ends: list[Event], expected: bool
) -> None:
    assert passed(passing, ends, event(9, 9)) is expected


@pytest.mark.parametrize("what", ["the request of an end", "the answer to it"])
def test_an_end_does_not_end_itself(what: str) -> None:
    now = event(2 if what == "the request of an end" else 3, 2)
    assert passed([event(1, 1)], [event(2, 2)], now)


def test_nothing_is_behind_itself() -> None:
    assert not passed([event(1, 1)], [], event(1, 1))
