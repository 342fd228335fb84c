"""Which lane and which life a message is of."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any, cast

import pytest

from onceproof.harness.explore.bench.lanes.base import Lane
from onceproof.harness.explore.bench.reports import Reports
from onceproof.harness.links.gate.client import Event, Gate
from onceproof.harness.wait import Stop

RULE = 7


class ToldGate:
    """A gate that reports what a test tells it."""

    def __init__(self) -> None:
        self.told: list[Event] = []

    def arrived(self, since: int) -> list[Event]:
        return self.told[since:]

    def state(self) -> dict[str, Any]:
        return {}

    def pass_by(self, client_id: str, connection: int) -> None:
        self.told.append(
            {"event": "fired", "rule": RULE, "client_id": client_id, "link": "pipeline→broker-1",
             "connection": connection, "api": "Fetch"}
        )  # fmt: skip


@pytest.fixture
def gate() -> ToldGate:
    return ToldGate()


@pytest.fixture
def reports(gate: ToldGate) -> Iterator[Reports]:
    made = Reports(cast("Gate", gate), {RULE}, Stop())
    yield made
    made.close()


def lives(reports: Reports, lane: str) -> list[int]:
    reports.settle()
    return [event["life"] for event in reports.messages(lane)]


def test_lane_and_life_are_in_the_client_id(gate: ToldGate, reports: Reports) -> None:
    for client in ("lane1-1", "lane2-1-consumer", "lane1-2", "somebody"):
        gate.pass_by(client, connection=1)
    assert lives(reports, "lane1") == [1, 2]
    assert lives(reports, "lane2") == [1]


def test_lane_that_is_alone_has_every_client(gate: ToldGate, reports: Reports) -> None:
    """A paused process goes on with its connections while its successor opens others."""
    alone = SimpleNamespace(name="lane9", lives=["first"])
    reports.take_all_for(cast("Lane", alone))
    gate.pass_by("rdkafka", connection=1)
    assert lives(reports, "lane9") == [1]
    alone.lives.append("second")
    gate.pass_by("rdkafka", connection=2)
    gate.pass_by("rdkafka", connection=1)
    assert lives(reports, "lane9") == [1, 2, 1]
