"""Messages that have passed in a client's current transaction."""

from __future__ import annotations

from typing import Any

import pytest

from onceproof.harness.faults.messages.message import Message
from onceproof.harness.faults.messages.so_far import TransactionWatch
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
    return TransactionWatch(context, message).passed(now)


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
def test_passed_counts_only_messages_since_the_last_end(
    passing: list[Event], ends: list[Event], expected: bool
) -> None:
    assert passed(passing, ends, event(9, 9)) is expected


@pytest.mark.parametrize("kind", ["the request of an end", "the answer to it"])
def test_end_of_the_transaction_still_belongs_to_it(kind: str) -> None:
    now = event(2 if kind == "the request of an end" else 3, 2)
    assert passed([event(1, 1)], [event(2, 2)], now)


def test_message_does_not_count_before_itself() -> None:
    assert not passed([event(1, 1)], [], event(1, 1))
