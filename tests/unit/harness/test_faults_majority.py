"""Faults that are proven by the others' word, on a bench that is made up here."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from harness.faults.pause import PauseBroker
from harness.faults.stop_broker import StopBroker
from harness.faults.targets import Node
from harness.kafka.metadata import ClusterView, Replicas
from harness.stage.base import StageTrouble
from harness.wait import Stop

NODE = Node(name="broker-2")


class View(ClusterView):
    """The brokers' word: who leads the three partitions, and who is in sync with whom."""

    def __init__(self, world: SimpleNamespace) -> None:
        super().__init__({})
        self.world = world

    def partitions(self, topic: str | None = None) -> list[Replicas]:
        return [
            Replicas(
                topic="payments",
                partition=partition,
                leader=leader,
                in_sync=frozenset(self.world.in_sync),
                replicas=frozenset({1, 2, 3}),
            )
            for partition, leader in enumerate(self.world.leaders)
        ]


@pytest.fixture
def world() -> SimpleNamespace:
    return SimpleNamespace(leaders=[1, 2, 3], in_sync={1, 2, 3}, paused=set())


def bench(world: SimpleNamespace) -> Any:
    def pause(node: str) -> str:
        world.paused.add(node)
        return f"{node}#1 stands still"

    stage = SimpleNamespace(
        pause=pause,
        resume=world.paused.remove,
        paused=lambda node: node in world.paused,
        shut_down=lambda node, how: f"{node}#1 ended with status 143",
    )
    return SimpleNamespace(
        stage=stage,
        topic="payments",
        view=lambda without=None: View(world),
        views=lambda: [View(world)],
        stop=Stop(),
    )


def moved(world: SimpleNamespace) -> None:
    world.leaders, world.in_sync = [1, 1, 3], {1, 3}


def whole(world: SimpleNamespace) -> None:
    world.in_sync = {1, 2, 3}


@pytest.mark.parametrize(
    ("leaders", "in_sync", "without"),
    [
        ([1, 1, 3], {1, 3}, True),
        ([1, 1, 3], {1, 2, 3}, False),
        ([1, 2, 3], {1, 3}, False),
        ([], {1, 3}, False),
    ],
)
def test_doing_without_a_broker(
    world: SimpleNamespace, leaders: list[int], in_sync: set[int], without: bool
) -> None:
    world.leaders, world.in_sync = leaders, in_sync
    assert View(world).does_without(2, "payments") is without


def test_a_pause_bites_when_the_others_do_without(world: SimpleNamespace) -> None:
    injection = PauseBroker(target=NODE).inject(bench(world), "pause")
    assert injection.target == "broker-2 (leads payments [1])"
    assert injection.evidence() is None
    moved(world)
    proof = injection.evidence()
    assert proof is not None
    assert proof.startswith("broker-2#1 stands still; the majority took broker-2 out of every in-")
    assert proof.endswith(" and moved the leadership of [1]")
    whole(world)
    injection.heal()
    assert world.paused == set()
    assert injection.evidence() == proof


def test_a_pause_that_somebody_ended_proves_nothing(world: SimpleNamespace) -> None:
    injection = PauseBroker(target=NODE).inject(bench(world), "pause")
    world.paused.clear()
    moved(world)
    assert injection.evidence() is None


def test_one_that_led_nothing_is_missed_all_the_same(world: SimpleNamespace) -> None:
    world.leaders = [1, 1, 3]
    injection = PauseBroker(target=NODE).inject(bench(world), "pause")
    assert injection.evidence() is None
    world.in_sync = {1, 3}
    proof = injection.evidence()
    assert proof is not None
    assert "out of every in-sync set" in proof
    assert "leadership" not in proof


def test_a_stop_hands_over_before_the_end(world: SimpleNamespace) -> None:
    made = bench(world)

    def shut_down(node: str, how: str) -> str:
        moved(world)
        return f"{node}#1 ended with status 143"

    made.stage.shut_down = shut_down
    proof = StopBroker(target=NODE).inject(made, "stop").evidence()
    assert proof is not None
    assert proof.startswith("broker-2#1 ended with status 143; the majority took broker-2 out of")
    assert proof.endswith(" and moved the leadership of [1]")


def test_a_stop_that_fails_is_told(world: SimpleNamespace) -> None:
    made = bench(world)

    def shut_down(node: str, how: str) -> str:
        moved(world)
        raise StageTrouble("it did not end")

    made.stage.shut_down = shut_down
    with pytest.raises(StageTrouble, match="it did not end"):
        StopBroker(target=NODE).inject(made, "stop")


def test_a_leadership_that_moves_after_the_end_was_not_handed_over(world: SimpleNamespace) -> None:
    injection = StopBroker(target=NODE).inject(bench(world), "stop")
    moved(world)
    assert injection.evidence() is None
