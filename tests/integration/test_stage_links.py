"""Links cut, and links that lose bytes: seen from the ends of the connection."""

from __future__ import annotations

import contextlib
from collections.abc import Callable

import pytest
from confluent_kafka.admin import AdminClient
from kafka.protocol.admin import CreateTopicsRequest

from harness.stage.base import StageTrouble
from harness.stage.topology import AUDITOR, POSTGRES, Link
from tests.integration.staging import (
    Staged,
    Talk,
    eventually,
    metadata,
    peers,
    refuses,
    serves,
)

pytestmark = pytest.mark.integration

LINK = Link("producer", "broker-1")
Heal = Callable[[Link], Link]


def way(staging: Staged, link: Link = LINK) -> str:
    return staging.stage.bootstrap(link.source, link.target)


def test_connections_are_counted(staging: Staged) -> None:
    stage = staging.stage
    assert stage.connections(LINK) == 0
    with Talk(way(staging)) as one, Talk(way(staging)) as two:
        one.ask()
        two.ask()
        assert one.answered()
        assert two.answered()
        assert stage.connections(LINK) == 2
        assert stage.connections(Link("producer", "broker-2")) == 0
        assert stage.connections(Link("pipeline", "broker-1")) == 0
    eventually(lambda: stage.connections(LINK) == 0, "no connection")


def test_connections_behind_the_proxies_are_counted(staging: Staged) -> None:
    stage = staging.stage
    ways = [way(staging), way(staging), way(staging, Link("producer", "broker-3"))]
    with contextlib.ExitStack() as stack:
        for address in ways:
            talk = stack.enter_context(Talk(address))
            talk.ask()
            assert talk.answered()
        assert stage.connected("producer") == 3
        assert stage.connected("pipeline") == 0
    eventually(lambda: stage.connected("producer") == 0, "no connection behind the proxies")


def test_every_broker_talks_to_others_through_its_links(staging: Staged) -> None:
    for node in staging.stage.brokers:
        eventually(
            lambda node=node: sum(map(staging.stage.connections, peers(staging.stage, node))),
            f"a connection between {node} and another broker",
        )


def test_a_cut_link(staging: Staged, healed: Heal) -> None:
    stage = staging.stage
    with Talk(way(staging)) as open_one, Talk(way(staging, Link("producer", "broker-2"))) as other:
        open_one.ask()
        assert open_one.answered()
        stage.cut(healed(LINK))
        assert open_one.closed()
        assert refuses(way(staging))
        assert stage.connections(LINK) == 0
        # Nothing else is cut: the same audience to another broker, another audience to this one.
        other.ask()
        assert other.answered()
        assert serves(way(staging, Link("pipeline", "broker-1")))
        assert serves(stage.bootstrap(AUDITOR, "broker-1"))
        assert stage.disturbed() == {"producer→broker-1": "disabled"}
        stage.cut(LINK)  # cut already
    stage.mend(LINK)
    assert serves(way(staging))
    assert stage.disturbed() == {}
    stage.mend(LINK)
    assert serves(way(staging))


def test_a_cut_database(staging: Staged, healed: Heal) -> None:
    import psycopg

    link = Link("pipeline", POSTGRES)
    with psycopg.connect(staging.stage.database("pipeline")) as connection:
        staging.stage.cut(healed(link))
        with pytest.raises(psycopg.OperationalError):
            connection.execute("SELECT 1")
    with pytest.raises(psycopg.OperationalError, match="refused"):
        psycopg.connect(staging.stage.database("pipeline"))
    with psycopg.connect(staging.stage.database(AUDITOR)) as directly:
        assert directly.execute("SELECT 1").fetchone() == (1,)
    staging.stage.mend(link)
    with psycopg.connect(staging.stage.database("pipeline")) as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)


def create(talk: Talk, topic: str) -> None:
    """Send a request that has an effect which others can see."""
    wanted = CreateTopicsRequest.CreatableTopic
    request = CreateTopicsRequest(
        topics=[
            wanted(name=topic, num_partitions=1, replication_factor=3, assignments=[], configs=[])
        ],
        timeout_ms=10_000,
        validate_only=False,
    )
    request.with_header(correlation_id=7, client_id="test")
    talk.socket.sendall(request.encode(version=4, framed=True, header=True))


def topics(staging: Staged) -> set[str]:
    return set(metadata(staging.stage.bootstrap(AUDITOR, "broker-2")).topics)


def test_lost_responses(staging: Staged, healed: Heal) -> None:
    stage = staging.stage
    with Talk(way(staging)) as open_one:
        open_one.ask()
        assert open_one.answered()
        stage.lose(healed(LINK), responses=True)
        create(open_one, "lost-response")
        # The request has arrived and was carried out; only nobody says so.
        eventually(lambda: "lost-response" in topics(staging), "the topic")
        assert not open_one.answered(1)
        assert stage.connections(LINK) == 1
        # A connection that is opened meanwhile is accepted, and is as mute.
        with Talk(way(staging)) as new_one:
            new_one.ask()
            assert not new_one.answered(1)
        assert stage.disturbed() == {"producer→broker-1": "toxics onceproof-lost-downstream"}
        stage.restore(LINK)
        # What was swallowed never comes: the connection ends instead.
        assert open_one.closed()
    assert serves(way(staging))
    assert stage.disturbed() == {}
    stage.restore(LINK)


def test_lost_requests(staging: Staged, healed: Heal) -> None:
    stage = staging.stage
    with Talk(way(staging)) as open_one:
        open_one.ask()
        assert open_one.answered()
        stage.lose(healed(LINK), responses=False)
        create(open_one, "lost-request")
        assert not open_one.answered(1)
        assert stage.disturbed() == {"producer→broker-1": "toxics onceproof-lost-upstream"}
        stage.restore(LINK)
        assert open_one.closed()
    assert "lost-request" not in topics(staging)
    with Talk(way(staging)) as new_one:
        create(new_one, "lost-request")
        assert new_one.answered()
    eventually(lambda: "lost-request" in topics(staging), "the topic")


def test_both_ways_at_once(staging: Staged, healed: Heal) -> None:
    for responses in (True, False):
        staging.stage.lose(healed(LINK), responses=responses)
    with Talk(way(staging)) as talk:
        talk.ask()
        assert not talk.answered(0.5)
    assert "onceproof-lost-downstream" in staging.stage.disturbed()["producer→broker-1"]
    assert "onceproof-lost-upstream" in staging.stage.disturbed()["producer→broker-1"]
    staging.stage.restore(LINK)
    assert serves(way(staging))


@pytest.mark.parametrize("what", ["cut", "mend", "restore", "connections", "lose"])
@pytest.mark.parametrize(
    "link",
    [Link("auditor", "broker-1"), Link("producer", "broker-9"), Link("broker-1", "broker-1")],
)
def test_a_link_that_there_is_not(staging: Staged, link: Link, what: str) -> None:
    more = {"responses": True} if what == "lose" else {}
    with pytest.raises(StageTrouble) as error:
        getattr(staging.stage, what)(link, **more)
    assert f"there is no link {link}; there are broker-1→broker-2, " in str(error.value)
    for known in staging.stage.links():
        assert str(known) in str(error.value)


def test_what_is_disturbed_is_named_as_a_link(staging: Staged, healed: Heal) -> None:
    between = Link("broker-1", "broker-2")  # two proxies, and one link
    staging.stage.cut(healed(LINK))
    staging.stage.lose(healed(between), responses=True)
    disturbed = staging.stage.disturbed()
    for link in (LINK, between):
        staging.stage.mend(link)
        staging.stage.restore(link)
    assert disturbed == {
        "producer→broker-1": "disabled",
        "broker-1→broker-2": "toxics onceproof-lost-downstream",
    }


def test_an_admin_client_on_a_cut_link_goes_on_over_the_others(
    staging: Staged, healed: Heal
) -> None:
    staging.stage.cut(healed(LINK))
    admin = AdminClient({"bootstrap.servers": staging.stage.bootstrap("producer"), "log_level": 0})
    assert set(admin.list_topics(timeout=20).brokers) == {1, 2, 3}
