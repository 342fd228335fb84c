"""Killed and isolated brokers, observed in the metadata of every broker."""

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
    marked_processes,
    peers,
    refuses,
    serves,
    told_by,
    whole_everywhere,
)

pytestmark = pytest.mark.integration


def is_acknowledged(bootstrap: str, topic: str, partition: int) -> bool:
    """Whether a record is acknowledged with `acks=all`."""
    outcomes: list[object] = []
    producer = Producer({"bootstrap.servers": bootstrap, "acks": "all", "log_level": 0})
    producer.produce(
        topic, b"x", partition=partition, on_delivery=lambda error, _: outcomes.append(error)
    )
    producer.flush(30)
    return outcomes == [None]


def test_killed_broker_loses_leadership_and_rejoins(
    staging: Staged, topic: Callable[..., str]
) -> None:
    stage, name = staging.stage, topic(3)
    node = f"broker-{told_by(stage, 'broker-1', name)[0].leader}"
    number = int(node[-1])
    survivors = [n for n in stage.brokers if n != node]
    led = [p for p, state in told_by(stage, node, name).items() if state.leader == number]
    process = next(p for p in reversed(staging.processes.all) if p.name == node)
    assert stage.alive(node)

    assert stage.kill(node, "a test") == f"{process.instance} ended by signal 9"
    try:
        assert process.session not in marked_processes(staging.processes.marker)
        assert (process.how, stage.alive(node)) == ("a test", False)
        for audience in (*AUDIENCES, AUDITOR):
            assert refuses(stage.bootstrap(audience, node))
        # The proxies of the other brokers' links to it are closed, too.
        hosts = {f"127.{staging.block.number}.{other[-1]}.{number}" for other in survivors}
        assert not [at for at in listeners(staging.block) if at[0] in hosts]
        assert stage.disturbed()[node] == "not running"
        with pytest.raises(StageTrouble, match=f"{node} cannot be killed: it is not running"):
            stage.kill(node, "again")

        def has_new_leaders() -> bool:
            return all(
                told_by(stage, other, name)[p].leader in {int(s[-1]) for s in survivors}
                for other in survivors
                for p in led
            )

        assert led
        eventually(
            has_new_leaders, "new leaders", lambda: [told_by(stage, s, name) for s in survivors]
        )
        assert is_acknowledged(stage.bootstrap("producer"), name, led[0])
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
    instances = [p.instance for p in staging.processes.all if p.name == node]
    assert instances[-1] != process.instance


def test_isolated_broker_leaves_in_sync_sets_and_serves_clients(
    staging: Staged, topic: Callable[..., str]
) -> None:
    stage, name = staging.stage, topic(3)
    before = told_by(stage, "broker-1", name)
    number = before[0].leader
    node = f"broker-{number}"
    majority = [n for n in stage.brokers if n != node]
    holds = [stage.disturb(link, CUT) for link in peers(stage, node)]
    try:
        assert sum(stage.connections(link) for link in peers(stage, node)) == 0

        def is_excluded() -> bool:
            return all(
                number not in {state.leader, *state.in_sync} and state.leader in state.in_sync
                for other in majority
                for state in told_by(stage, other, name).values()
            )

        eventually(
            is_excluded,
            f"the majority to take {node} out of every ISR",
            lambda: [told_by(stage, n, name) for n in majority],
        )
        # It runs, clients reach it, and its metadata are stale.
        assert stage.alive(node)
        assert serves(stage.bootstrap("producer", node))
        assert told_by(stage, node, name)[0].leader == number
        for state in told_by(stage, node, name).values():
            assert number in state.in_sync
        # The majority continues without it.
        reachable = ",".join(stage.bootstrap("producer", n) for n in majority)
        assert is_acknowledged(reachable, name, 0)
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


def test_broker_logs_show_no_direct_raft_connection(staging: Staged) -> None:
    """Runs after the tests above, because a bypass would occur on reconnection.

    Without CONTROLLER in the advertised listeners, brokers learn each other's direct address and
    log `Hostname for node 2 changed from b2 to …`.
    """
    logs = list(staging.logs.glob("broker-*.log"))
    assert len(logs) >= 3
    for log in logs:
        text = log.read_text(errors="replace")
        assert "Kafka Server started" in text
        assert "Hostname for node" not in text
