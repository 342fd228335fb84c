"""A stage in containers: the same links, lives and counts as on the local stage."""

from __future__ import annotations

import contextlib
from collections.abc import Callable

import psycopg
import pytest
from confluent_kafka import Producer
from psycopg.conninfo import make_conninfo

from onceproof.harness.links.disturbances import CUT, Disturbance, Hold, Way, lose
from onceproof.harness.links.topology import AUDIENCES, AUDITOR, POSTGRES, Link
from onceproof.harness.processes.trouble import StageTrouble
from tests.docker.staging import Contained, labelled
from tests.integration.faults import at_work, context
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


def way(staging: Contained, link: Link = LINK) -> str:
    return staging.stage.bootstrap(link.source, link.target)


def sent(bootstrap: str, topic: str) -> bool:
    """Whether a record gets acknowledged by all replicas that there have to be."""
    outcomes: list[object] = []
    producer = Producer({"bootstrap.servers": bootstrap, "acks": "all", "log_level": 0})
    producer.produce(topic, b"x", on_delivery=lambda error, _: outcomes.append(error))
    producer.flush(30)
    return outcomes == [None]


@pytest.mark.parametrize("audience", [*AUDIENCES, AUDITOR])
def test_every_audience_is_sent_to_its_own_listeners(staging: Contained, audience: str) -> None:
    for node in staging.stage.brokers:
        assert metadata(staging.stage.bootstrap(audience, node)).brokers == {
            n: staging.stage.bootstrap(audience, f"broker-{n}") for n in (1, 2, 3)
        }


def test_no_broker_learned_a_way_past_the_proxies(staging: Contained) -> None:
    said = "".join(log.read_text() for log in staging.logs.glob("broker-*.log"))
    assert "Kafka Server started" in said
    assert "Hostname for node" not in said


def test_every_broker_talks_to_others_through_its_links(staging: Contained) -> None:
    for node in staging.stage.brokers:
        eventually(
            lambda node=node: sum(map(staging.stage.connections, peers(staging.stage, node))),
            f"a connection between {node} and another broker",
        )


def test_connections_are_counted_on_both_sides_of_the_proxies(staging: Contained) -> None:
    stage = staging.stage
    assert stage.connections(LINK) == 0
    ways = [way(staging), way(staging), way(staging, Link("producer", "broker-3"))]
    with contextlib.ExitStack() as stack:
        for address in ways:
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


def test_the_database_asks_for_the_password_of_the_run(staging: Contained) -> None:
    known = staging.stage.database("pipeline")
    with psycopg.connect(known) as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)
    for guess in ("", "onceproof"):
        with pytest.raises(psycopg.OperationalError, match="password"):
            psycopg.connect(make_conninfo(known, passfile="/dev/null", password=guess))


def test_a_cut_link(staging: Contained, disturb: Disturb) -> None:
    stage = staging.stage
    with Talk(way(staging)) as open_one, Talk(way(staging, Link("producer", "broker-2"))) as other:
        open_one.ask()
        assert open_one.answered()
        hold = disturb(LINK, CUT)
        assert open_one.closed()
        assert not serves(way(staging))
        assert stage.connections(LINK) == 0
        # Nothing else is cut: the same audience to another broker, another audience to this one.
        other.ask()
        assert other.answered()
        assert serves(way(staging, Link("pipeline", "broker-1")))
        assert serves(stage.bootstrap(AUDITOR, "broker-1"))
        assert stage.disturbed() == {"producer→broker-1": "disabled"}
    hold.release()
    assert serves(way(staging))


def test_a_cut_database(staging: Contained, disturb: Disturb) -> None:
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


@pytest.mark.parametrize("lost", ["requests", "responses"])
def test_lost_bytes(staging: Contained, disturb: Disturb, lost: Way) -> None:
    stage = staging.stage
    with Talk(way(staging)) as talk:
        talk.ask()
        assert talk.answered()
        hold = disturb(LINK, lose(lost))
        talk.ask()
        assert not talk.answered(2)
        assert stage.connections(LINK) == 1
        assert list(stage.disturbed()) == [str(LINK)]
        hold.release()
        assert talk.closed()
    assert serves(way(staging))


def test_a_killed_broker(staging: Contained, topic: Callable[..., str]) -> None:
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
                told.leader != number
                for other in survivors
                for told in told_by(stage, other, name).values()
            ),
            "new leaders",
        )
        assert sent(stage.bootstrap("producer"), name)
    finally:
        stage.restart(node)
    assert stage.alive(node)
    eventually(lambda: whole_everywhere(stage, name), "every replica in sync")
    # Its second life has a log of its own, and its data are those of the first.
    assert len(list(staging.logs.glob(f"{node}.*.log"))) >= 2
    assert set(told_by(stage, node, name)) == {0, 1, 2}


def test_an_isolated_broker(
    staging: Contained, topic: Callable[..., str], disturb: Disturb
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
                number not in {told.leader, *told.in_sync}
                for other in survivors
                for told in told_by(stage, other, name).values()
            ),
            "the majority to take it out",
        )
        # It lives, clients reach it, and it believes what it last knew.
        assert stage.alive(node)
        assert serves(stage.bootstrap("producer", node))
        assert told_by(stage, node, name)[0].leader == number
    finally:
        for hold in holds:
            hold.release()
    eventually(lambda: whole_everywhere(stage, name), "every replica in sync")


@pytest.mark.parametrize(
    ("fault", "seen", "state"),
    [
        ("kill database", "connections that bypass the proxies get no answer", "not running"),
        ("stop database", "connections that bypass the proxies get no answer", "not running"),
        ("pause database", "a new connection gets no answer", "paused"),
    ],
)
def test_a_fault_of_the_database(staging: Contained, fault: str, seen: str, state: str) -> None:
    database = staging.stage.database("pipeline")
    with at_work(context(staging.stage), fault) as (_, proof):
        assert proof.endswith(f"; {seen}")
        assert staging.stage.disturbed()[POSTGRES] == state
        with pytest.raises(psycopg.OperationalError):
            psycopg.connect(database)
    with psycopg.connect(database) as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)


@pytest.mark.parametrize(
    "words",
    ["delay {} responses 100 0", "hold {} requests", "reset {}", "cut-after {} responses 50"],
)
@pytest.mark.parametrize("between", ["clients", "brokers", "database"])
def test_a_fault_of_a_link(staging: Contained, words: str, between: str) -> None:
    stage = staging.stage
    with contextlib.ExitStack() as stack:
        if between == "database":
            link = Link("pipeline", POSTGRES)
            stack.enter_context(psycopg.connect(stage.database("pipeline")))
        elif between == "clients":
            link = LINK
            stack.enter_context(Talk(way(staging)))
        else:
            links = [link for link in stage.links() if link.source in stage.brokers]
            link = eventually(
                lambda: next(filter(stage.connections, links), None), "brokers that talk"
            )
        _, proof = stack.enter_context(
            at_work(context(stage), words.format(f"{link.source} {link.target}"))
        )
        assert f" connections on {link}; " in proof


def test_it_is_written_down(staging: Contained) -> None:
    stage = staging.stage
    versions, settings = stage.versions(), stage.settings()
    assert versions["image of broker-1"].startswith("onceproof-standin/kafka:")
    assert "kafka" not in versions, "the local stage's brokers are not on trial"
    assert settings["backend"] == "docker"
    brokers = settings["brokers"]
    assert isinstance(brokers, dict)
    assert brokers["min.insync.replicas"] == "2"


def test_all_of_it_carries_the_label_of_the_run(staging: Contained) -> None:
    # Five containers, four networks, four volumes.
    assert len(labelled(staging.processes.marker)) == 13
