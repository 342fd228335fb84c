"""Brokers killed and isolated: what the survivors say, and what the isolated one still believes."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from confluent_kafka import Producer

from onceproof.harness.links.disturbances import CUT
from onceproof.harness.links.topology import AUDIENCES, AUDITOR
from onceproof.harness.processes.trouble import StageTrouble
from tests.integration.staging import (
    Staged,
    eventually,
    listeners,
    marked,
    peers,
    refuses,
    serves,
    told_by,
    whole_everywhere,
)

pytestmark = pytest.mark.integration


def sent(bootstrap: str, topic: str, partition: int) -> bool:
    """Whether a record gets acknowledged by all replicas that there have to be."""
    outcomes: list[object] = []
    producer = Producer({"bootstrap.servers": bootstrap, "acks": "all", "log_level": 0})
    producer.produce(
        topic, b"x", partition=partition, on_delivery=lambda error, _: outcomes.append(error)
    )
    producer.flush(30)
    return outcomes == [None]


def test_a_killed_broker(staging: Staged, topic: Callable[..., str]) -> None:
    stage, name = staging.stage, topic(3)
    node = f"broker-{told_by(stage, 'broker-1', name)[0].leader}"
    number = int(node[-1])
    survivors = [n for n in stage.brokers if n != node]
    led = [p for p, told in told_by(stage, node, name).items() if told.leader == number]
    life = next(p for p in reversed(staging.processes.all) if p.name == node)
    assert stage.alive(node)

    assert stage.kill(node, "a test") == f"{life.instance} ended by signal 9"
    try:
        assert life.session not in marked(staging.processes.marker)
        assert (life.how, stage.alive(node)) == ("a test", False)
        for audience in (*AUDIENCES, AUDITOR):
            assert refuses(stage.bootstrap(audience, node))
        # The other brokers are refused as well, and not only by the broker itself.
        hosts = {f"127.{staging.block.number}.{other[-1]}.{number}" for other in survivors}
        assert not [at for at in listeners(staging.block) if at[0] in hosts]
        assert stage.disturbed()[node] == "not running"
        with pytest.raises(StageTrouble, match=f"{node} cannot be killed: it is not running"):
            stage.kill(node, "again")

        def moved() -> bool:
            return all(
                told_by(stage, other, name)[p].leader in {int(s[-1]) for s in survivors}
                for other in survivors
                for p in led
            )

        assert led
        eventually(moved, "new leaders", lambda: [told_by(stage, s, name) for s in survivors])
        assert sent(stage.bootstrap("producer"), name, led[0])
    finally:
        stage.restart(node)
    assert stage.alive(node)
    eventually(
        lambda: whole_everywhere(stage, name),
        "every replica in sync, as each broker tells",
        lambda: [told_by(stage, n, name) for n in stage.brokers],
    )
    for audience in (*AUDIENCES, AUDITOR):
        assert serves(stage.bootstrap(audience, node))
    assert stage.disturbed() == {}
    lives = [p.instance for p in staging.processes.all if p.name == node]
    assert lives[-1] != life.instance


def test_an_isolated_broker(staging: Staged, topic: Callable[..., str]) -> None:
    stage, name = staging.stage, topic(3)
    before = told_by(stage, "broker-1", name)
    number = before[0].leader
    node = f"broker-{number}"
    majority = [n for n in stage.brokers if n != node]
    holds = [stage.disturb(link, CUT) for link in peers(stage, node)]
    try:
        assert sum(stage.connections(link) for link in peers(stage, node)) == 0

        def out() -> bool:
            return all(
                number not in {told.leader, *told.in_sync} and told.leader in told.in_sync
                for other in majority
                for told in told_by(stage, other, name).values()
            )

        eventually(
            out,
            f"the majority to take {node} out of every ISR",
            lambda: [told_by(stage, n, name) for n in majority],
        )
        # It lives, and clients reach it; it believes what it knew.
        assert stage.alive(node)
        assert serves(stage.bootstrap("producer", node))
        assert told_by(stage, node, name)[0].leader == number
        for told in told_by(stage, node, name).values():
            assert number in told.in_sync
        # The majority goes on without it.
        reachable = ",".join(stage.bootstrap("producer", n) for n in majority)
        assert sent(reachable, name, 0)
    finally:
        for hold in holds:
            hold.release()
    eventually(
        lambda: whole_everywhere(stage, name),
        "every replica in sync, as each broker tells",
        lambda: [told_by(stage, n, name) for n in stage.brokers],
    )
    assert told_by(stage, node, name)[0] == told_by(stage, majority[0], name)[0]
    assert stage.disturbed() == {}


def test_raft_never_went_past_the_proxies(staging: Staged) -> None:
    """Runs after the tests above: reconnecting is when it would happen.

    Without CONTROLLER in the advertised listeners brokers learn each other's own address, and the
    log says `Hostname for node 2 changed from b2 to …`.
    """
    logs = list(staging.logs.glob("broker-*.log"))
    assert len(logs) >= 3
    for log in logs:
        text = log.read_text(errors="replace")
        assert "Kafka Server started" in text
        assert "Hostname for node" not in text
