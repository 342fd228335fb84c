"""Number of inputs that a program has read since it last wrote."""

from __future__ import annotations

from typing import Any

import pytest

from onceproof.harness.clock import now
from onceproof.harness.faults.program.inputs_in_hand import InputsInHand
from onceproof.harness.links.gate.client import Event
from onceproof.harness.links.gate.rules import Rule
from onceproof.harness.links.topology import Link
from onceproof.harness.user_pipeline.identity import Rule as IdentityRule
from onceproof.harness.user_pipeline.orders import Orders
from onceproof.harness.user_pipeline.outputs.output import Output
from onceproof.harness.user_pipeline.subject import OwnPipeline
from tests.unit.fakes.pipelines import FakeProgram
from tests.unit.fakes.run_context import FakeContext
from tests.unit.fakes.stage import FakeGate, FakeStage

SECOND = 1_000_000_000
BEGINS = now()
LATER = BEGINS + 3600 * SECOND
"""Events come after the start of the count."""


class FakeLook:
    """Outputs that last changed `quiet_for` seconds ago."""

    quiet_for = 0.0
    topics: tuple[str, ...] = ("orders",)

    def size(self) -> int:
        return 0


def fetch(at: int, *positions: tuple[int, int], topic: str = "orders") -> Event:
    places = [[topic, *place] for place in positions]
    return {"api": "Fetch", "direction": "request", "at": LATER + at, "positions": places}


def fetched(at: int, *positions: tuple[int, int], topic: str = "orders") -> Event:
    return {**fetch(at, *positions, topic=topic), "direction": "response"}


def produce(at: int, *transactional_ids: str) -> Event:
    return {"api": "Produce", "at": LATER + at, "transactional_ids": list(transactional_ids)}


def end(at: int) -> Event:
    return {"api": "EndTxn", "at": LATER + at}


def new_counter(*events: Event, output: str = "copied", changed: int | None = None) -> InputsInHand:
    class Gate(FakeGate):
        def put(self, rule: Rule) -> Any:
            message = rule.message
            fired = [
                event
                for event in events
                if event["api"] == message.api
                and event.get("direction", "request") == message.direction
            ]
            return FakeGate(fired=fired)

    look = FakeLook()
    if changed is not None:
        look.quiet_for = (now() - LATER - changed) / SECOND
    outputs = (Output.parse(output, IdentityRule.parse("json:$.id")),)
    return InputsInHand(
        FakeContext(
            pipeline=FakeProgram(look),
            subject=OwnPipeline(
                command=("job",),
                folder=".",
                outputs=outputs,
                orders=Orders(topic="orders", records=9),
            ),
            topic="orders",
            stage=FakeStage(gates={Link("pipeline", "broker-1"): Gate()}),
        )
    )


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        ((), None),
        ((produce(1),), None),
        ((fetch(1, (0, 5)),), 0),
        ((fetch(1, (0, 5)), fetch(2, (0, 9))), 4),
        ((fetch(1, (0, 5)), produce(2), fetch(3, (0, 9))), 4),
        ((fetch(1, (0, 5)), fetch(2, (0, 9)), produce(3)), 0),
        ((fetch(1, (0, 5)), fetch(2, (0, 9)), produce(3), fetch(4, (0, 9))), 0),
        ((fetch(1, (0, 5)), produce(2), fetch(3, (0, 9)), produce(4), fetch(5, (0, 10))), 1),
        # Transactional writes count when the transaction ends.
        ((fetch(1, (0, 5)), fetch(2, (0, 9)), produce(3, "id")), 4),
        ((fetch(1, (0, 5)), fetch(2, (0, 9)), produce(3, "id"), end(4), fetch(5, (0, 11))), 2),
        # A partition first fetched after the write counts from its first position.
        ((fetch(1, (0, 5)), produce(2), fetch(3, (1, 7)), fetch(4, (1, 9), (0, 6))), 3),
        # A client that fetches again only after it has written.
        ((fetch(1, (0, 5)), fetched(2, (0, 9))), 4),
        ((fetch(1, (0, 5)), fetched(2, (0, 9)), produce(3)), 0),
        ((fetch(1, (0, 5)), fetched(2, (0, 9)), produce(3), fetched(4, (0, 12))), 3),
        ((fetch(1, (0, 5)), fetched(2)), 0),
        # Within a fetch session, a request names no partition that has not changed.
        ((fetched(1, (0, 9)), produce(2), fetched(3, (0, 12), (1, 4))), 3),
        # Seeking back reads nothing.
        ((fetch(1, (0, 5)), produce(2), fetch(3, (0, 2))), 0),
        ((fetch(1, (0, 5)), fetch(2, (0, 9), topic="changelog")), 0),
    ],
)
def test_counts_offsets_fetched_since_the_last_write(
    events: tuple[Event, ...], expected: int
) -> None:
    assert new_counter(*events).count() == expected


def test_changes_of_non_topic_outputs_count_as_writes() -> None:
    fetches = fetch(1 * SECOND, (0, 5)), fetch(3 * SECOND, (0, 9)), fetch(5 * SECOND, (0, 10))
    table = "postgres:ledger"
    assert new_counter(*fetches, output=table, changed=2 * SECOND).count() == 5
    assert new_counter(*fetches, output=table, changed=4 * SECOND).count() == 1
    assert new_counter(*fetches, output=table, changed=6 * SECOND).count() == 0
    assert new_counter(*fetches, output="copied", changed=6 * SECOND).count() == 5, (
        "topics need no look"
    )


def test_remove_removes_its_gate_rules() -> None:
    gate = FakeGate()
    stage = FakeStage(gates={Link("pipeline", "broker-1"): gate})
    counter = InputsInHand(FakeContext(pipeline=FakeProgram(FakeLook()), stage=stage))
    assert [rule.message.api for rule in gate.rules] == ["Fetch", "Fetch", "Produce", "EndTxn"]
    counter.remove()
    assert not gate.rules
