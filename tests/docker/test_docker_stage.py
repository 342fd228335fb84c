"""A stage in containers has the links, lives and counts of the local stage."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest
from confluent_kafka import Producer
from psycopg.conninfo import make_conninfo

from onceproof.harness.links.disturbances import CUT, Disturbance, Hold, Way, lose
from onceproof.harness.links.gate.rules import MessageMatch
from onceproof.harness.links.topology import AUDIENCES, AUDITOR, POSTGRES, Link
from onceproof.harness.processes.trouble import StageTrouble
from tests.docker.staging import ContainerStage, labelled_resources
from tests.integration.faults import active_fault, context
from tests.integration.staging import (
    Talk,
    eventually,
    metadata,
    peers,
    serves,
    told_by,
    whole_everywhere,
)

LINK = Link("producer", "broker-1")
Disturb = Callable[[Link, Disturbance], Hold]


def address_of(staging: ContainerStage, link: Link = LINK) -> str:
    return staging.stage.bootstrap(link.source, link.target)


def is_acknowledged(bootstrap: str, topic: str, seconds: float = 30) -> bool:
    """Whether a record is acknowledged with `acks=all`."""
    outcomes: list[object] = []
    producer = Producer({"bootstrap.servers": bootstrap, "acks": "all", "log_level": 0})
    producer.produce(topic, b"x", on_delivery=lambda error, _: outcomes.append(error))
    producer.flush(seconds)
    return outcomes == [None]


@pytest.mark.parametrize("audience", [*AUDIENCES, AUDITOR])
def test_metadata_names_listeners_of_own_audience(staging: ContainerStage, audience: str) -> None:
    for node in staging.stage.brokers:
        assert metadata(staging.stage.bootstrap(audience, node)).brokers == {
            n: staging.stage.bootstrap(audience, f"broker-{n}") for n in (1, 2, 3)
        }


def test_broker_logs_show_no_unknown_hostname(staging: ContainerStage) -> None:
    logs = "".join(log.read_text() for log in staging.logs.glob("broker-*.log"))
    assert "Kafka Server started" in logs
    assert "Hostname for node" not in logs


def test_brokers_connect_through_their_links(staging: ContainerStage) -> None:
    for node in staging.stage.brokers:
        eventually(
            lambda node=node: sum(map(staging.stage.connections, peers(staging.stage, node))),
            f"a connection between {node} and another broker",
        )


def test_counts_connections_on_both_sides_of_proxies(staging: ContainerStage) -> None:
    stage = staging.stage
    assert stage.connections(LINK) == 0
    addresses = [
        address_of(staging),
        address_of(staging),
        address_of(staging, Link("producer", "broker-3")),
    ]
    with contextlib.ExitStack() as stack:
        for address in addresses:
            talk = stack.enter_context(Talk(address))
            talk.ask()
            assert talk.answered()
        assert stage.connections(LINK) == 2
        assert stage.connections(Link("producer", "broker-2")) == 0
        assert stage.connections(Link("pipeline", "broker-1")) == 0
        assert stage.connected("producer") == 3
        assert stage.connected("pipeline") == 0
    eventually(lambda: stage.connections(LINK) == 0, "no connection")
    eventually(lambda: stage.connected("producer") == 0, "no connection behind the proxies")


def test_database_requires_password_of_the_run(staging: ContainerStage) -> None:
    conninfo = staging.stage.database("pipeline")
    with psycopg.connect(conninfo) as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)
    for guess in ("", "onceproof"):
        with pytest.raises(psycopg.OperationalError, match="password"):
            psycopg.connect(make_conninfo(conninfo, passfile="/dev/null", password=guess))


def test_cut_closes_and_refuses_connections_of_its_link_only(
    staging: ContainerStage, disturb: Disturb
) -> None:
    stage = staging.stage
    with (
        Talk(address_of(staging)) as talk,
        Talk(address_of(staging, Link("producer", "broker-2"))) as other,
    ):
        talk.ask()
        assert talk.answered()
        hold = disturb(LINK, CUT)
        assert talk.closed()
        assert not serves(address_of(staging))
        assert stage.connections(LINK) == 0
        # Not cut: the same audience's link to another broker, another audience's to this one.
        other.ask()
        assert other.answered()
        assert serves(address_of(staging, Link("pipeline", "broker-1")))
        assert serves(stage.bootstrap(AUDITOR, "broker-1"))
        assert stage.disturbed() == {"producer→broker-1": "disabled"}
    hold.release()
    assert serves(address_of(staging))


def test_cut_database_is_reachable_by_the_auditor_only(
    staging: ContainerStage, disturb: Disturb
) -> None:
    link = Link("pipeline", POSTGRES)
    with psycopg.connect(staging.stage.database("pipeline")) as connection:
        assert staging.stage.connections(link) == 1
        hold = disturb(link, CUT)
        with pytest.raises(psycopg.OperationalError):
            connection.execute("SELECT 1")
    with pytest.raises(psycopg.OperationalError):
        psycopg.connect(staging.stage.database("pipeline"))
    with psycopg.connect(staging.stage.database(AUDITOR)) as directly:
        assert directly.execute("SELECT 1").fetchone() == (1,)
    hold.release()
    with psycopg.connect(staging.stage.database("pipeline")) as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)


@pytest.mark.parametrize("direction", ["requests", "responses"])
def test_lost_bytes_keep_connection_open_until_release(
    staging: ContainerStage, disturb: Disturb, direction: Way
) -> None:
    stage = staging.stage
    with Talk(address_of(staging)) as talk:
        talk.ask()
        assert talk.answered()
        hold = disturb(LINK, lose(direction))
        talk.ask()
        assert not talk.answered(2)
        assert stage.connections(LINK) == 1
        assert list(stage.disturbed()) == [str(LINK)]
        hold.release()
        assert talk.closed()
    assert serves(address_of(staging))


def test_killed_broker_loses_leadership_and_keeps_data(
    staging: ContainerStage, topic: Callable[..., str]
) -> None:
    stage, name = staging.stage, topic(3)
    node = f"broker-{told_by(stage, 'broker-1', name)[0].leader}"
    number = int(node[-1])
    survivors = [n for n in stage.brokers if n != node]
    instance = staging.instance(node)
    assert stage.kill(node, "a test") == f"{instance} ended by signal 9"
    try:
        assert staging.ended(instance) == "a test"
        assert not stage.alive(node)
        for audience in (*AUDIENCES, AUDITOR):
            with contextlib.suppress(OSError):
                assert not serves(stage.bootstrap(audience, node))
        assert stage.disturbed()[node] == "not running"
        with pytest.raises(StageTrouble, match=f"{node} cannot be killed: it is not running"):
            stage.kill(node, "again")
        eventually(
            lambda: all(
                state.leader != number
                for other in survivors
                for state in told_by(stage, other, name).values()
            ),
            "new leaders",
        )
        assert is_acknowledged(stage.bootstrap("producer"), name)
    finally:
        stage.restart(node)
    assert stage.alive(node)
    eventually(lambda: whole_everywhere(stage, name), "every replica in sync")
    # The second instance has its own log and the data of the first.
    assert len(list(staging.logs.glob(f"{node}.*.log"))) >= 2
    assert set(told_by(stage, node, name)) == {0, 1, 2}


def test_isolated_broker_leaves_in_sync_sets_and_serves_clients(
    staging: ContainerStage, topic: Callable[..., str], disturb: Disturb
) -> None:
    stage, name = staging.stage, topic(3)
    node = f"broker-{told_by(stage, 'broker-1', name)[0].leader}"
    number = int(node[-1])
    survivors = [n for n in stage.brokers if n != node]
    links = peers(stage, node)
    holds = [disturb(link, CUT) for link in links]
    try:
        assert sum(map(stage.connections, links)) == 0
        eventually(
            lambda: all(
                number not in {state.leader, *state.in_sync}
                for other in survivors
                for state in told_by(stage, other, name).values()
            ),
            "the majority to take it out",
        )
        # It runs, clients reach it, and its metadata are stale.
        assert stage.alive(node)
        assert serves(stage.bootstrap("producer", node))
        assert told_by(stage, node, name)[0].leader == number
    finally:
        for hold in holds:
            hold.release()
    eventually(lambda: whole_everywhere(stage, name), "every replica in sync")


@pytest.mark.parametrize(
    ("fault", "evidence", "expected_state"),
    [
        ("kill database", "connections that bypass the proxies get no answer", "not running"),
        ("stop database", "connections that bypass the proxies get no answer", "not running"),
        ("pause database", "a new connection gets no answer", "paused"),
    ],
)
def test_database_fault_takes_effect_and_heals(
    staging: ContainerStage, fault: str, evidence: str, expected_state: str
) -> None:
    database = staging.stage.database("pipeline")
    with active_fault(context(staging.stage), fault) as (_, proof):
        assert proof.endswith(f"; {evidence}")
        assert staging.stage.disturbed()[POSTGRES] == expected_state
        with pytest.raises(psycopg.OperationalError):
            psycopg.connect(database)
    with psycopg.connect(database) as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)


@pytest.mark.parametrize(
    "command",
    ["delay {} responses 100 0", "hold {} requests", "reset {}", "cut-after {} responses 50"],
)
@pytest.mark.parametrize("between", ["clients", "brokers", "database"])
def test_link_fault_takes_effect(staging: ContainerStage, command: str, between: str) -> None:
    stage = staging.stage
    with contextlib.ExitStack() as stack:
        if between == "database":
            link = Link("pipeline", POSTGRES)
            stack.enter_context(psycopg.connect(stage.database("pipeline")))
        elif between == "clients":
            link = LINK
            stack.enter_context(Talk(address_of(staging)))
        else:
            links = [link for link in stage.links() if link.source in stage.brokers]
            link = eventually(
                lambda: next(filter(stage.connections, links), None), "brokers that talk"
            )
        _, proof = stack.enter_context(
            active_fault(context(stage), command.format(f"{link.source} {link.target}"))
        )
        assert f" connections on {link}; " in proof


def test_versions_and_settings_describe_containers(staging: ContainerStage) -> None:
    stage = staging.stage
    versions, settings = stage.versions(), stage.settings()
    assert versions["image of broker-1"].startswith("onceproof-standin/kafka:")
    assert "kafka" not in versions, "the local stage's brokers are not on trial"
    assert settings["backend"] == "docker"
    brokers = settings["brokers"]
    assert isinstance(brokers, dict)
    assert brokers["min.insync.replicas"] == "2"


def test_all_resources_carry_the_label_of_the_run(staging: ContainerStage) -> None:
    # Five containers, four networks, four volumes.
    assert len(labelled_resources(staging.processes.marker)) == 13


def test_gate_holds_a_message_until_it_is_released(
    staging: ContainerStage, topic: Callable[..., str]
) -> None:
    name = topic()
    links = [Link("producer", node) for node in staging.stage.brokers]
    hold = MessageMatch(direction="request", api="Produce", topic=name).rule("hold")
    placed = [staging.stage.gate(link).put(hold) for link in links]
    try:
        with ThreadPoolExecutor(1) as pool:
            sent = pool.submit(is_acknowledged, staging.stage.bootstrap("producer"), name)
            event = eventually(
                lambda: next((event for each in placed for event in each.fired), None),
                "the Produce",
            )
            assert (event["topics"], event["direction"]) == ([name], "request")
            assert not sent.done()
            assert "held 1" in staging.stage.disturbed()[event["link"]]
            assert sum(each.release() for each in placed) == 1
            assert sent.result(60)
    finally:
        for link in links:
            staging.stage.ungate(link)
    assert is_acknowledged(staging.stage.bootstrap("producer"), name)


def test_what_a_gate_holds_is_lost_with_the_broker(
    staging: ContainerStage, topic: Callable[..., str]
) -> None:
    name = topic()
    links = [Link("producer", node) for node in staging.stage.brokers]
    hold = MessageMatch(direction="request", api="Produce", topic=name).rule("hold")
    placed = [staging.stage.gate(link).put(hold) for link in links]
    try:
        with ThreadPoolExecutor(1) as pool:
            sent = pool.submit(is_acknowledged, staging.stage.bootstrap("producer"), name, 180)
            event = eventually(
                lambda: next((event for each in placed for event in each.fired), None),
                "the Produce",
            )
            node = str(event["link"]).partition("→")[2]
            staging.stage.kill(node, "SIGKILL by a test")
            eventually(lambda: [lost for each in placed for lost in each.lost], "the loss")
            staging.stage.restart(node)
            assert sent.result(200), "the client sends again"
    finally:
        for link in links:
            staging.stage.ungate(link)
    eventually(lambda: whole_everywhere(staging.stage, name), "all replicas in sync")
