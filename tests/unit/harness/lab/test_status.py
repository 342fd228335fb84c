"""Status of a lab: what most brokers report about partitions, and who dissents."""

from __future__ import annotations

from onceproof.harness.kafka.metadata import Replicas
from onceproof.harness.lab.status import _agreed, bootstraps, status
from onceproof.harness.links.topology import QUEUE_BROKER
from tests.unit.fakes.run_context import FakeContext
from tests.unit.fakes.stage import FakeStage


def answer(leader: int, *in_sync: int) -> Replicas:
    return Replicas(
        topic="payments",
        partition=0,
        leader=leader,
        in_sync=frozenset(in_sync),
        replicas=frozenset({1, 2, 3}),
    )


def test_agreeing_brokers_have_no_dissent() -> None:
    same = answer(2, 1, 2, 3)
    assert _agreed(("payments", 0), {1: same, 2: same, 3: same}) == {
        "topic": "payments",
        "partition": 0,
        "leader": "broker-2",
        "in_sync": [1, 2, 3],
        "replicas": [1, 2, 3],
        "dissent": {},
    }


def test_isolated_leader_is_overruled() -> None:
    found = _agreed(
        ("payments", 0), {1: answer(3, 1, 3), 2: answer(2, 1, 2, 3), 3: answer(3, 1, 3)}
    )
    assert (found["leader"], found["in_sync"]) == ("broker-3", [1, 3])
    assert found["dissent"] == {"broker-2": "broker-2"}


def test_missing_leader_is_reported_as_none() -> None:
    found = _agreed(("payments", 0), {1: answer(-1, 3), 2: answer(-1, 3)})
    assert (found["leader"], found["in_sync"], found["dissent"]) == (None, [3], {})


def test_paused_broker_is_listed_but_not_asked() -> None:
    stage = FakeStage(dead={"broker-1"}, standing={"broker-3"})
    stage.said_by[3] = {("orders", 0): (3, {3})}  # its answer, if it were asked
    found = status(FakeContext(stage=stage), [])
    assert found["nodes"] == {
        "broker-1": "down",
        "broker-2": "up",
        "broker-3": "paused",
        "postgres": "up",
    }
    assert all(partition["dissent"] == {} for partition in found["partitions"])
    assert found["links"] == {}


def test_bootstraps_fall_back_to_the_queue_broker() -> None:
    context = FakeContext(stage=FakeStage(brokers=(), services=(QUEUE_BROKER,)))
    assert bootstraps(context) == {
        "producer": "producer:5672",
        "pipeline": "pipeline:5672",
        "auditor": "auditor:5672",
    }
