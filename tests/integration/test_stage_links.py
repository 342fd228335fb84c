"""Links cut, and links that lose bytes: seen from the ends of the connection."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable

import pytest
from confluent_kafka.admin import AdminClient
from kafka.protocol.admin import CreateTopicsRequest

from onceproof.harness.links.disturbances import CUT, Disturbance, Hold, Way, lose
from onceproof.harness.links.topology import AUDITOR, POSTGRES, Link
from onceproof.harness.processes.trouble import StageTrouble
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
Disturb = Callable[[Link, Disturbance], Hold]


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


def test_a_cut_link(staging: Staged, disturb: Disturb) -> None:
    stage = staging.stage
    with Talk(way(staging)) as open_one, Talk(way(staging, Link("producer", "broker-2"))) as other:
        open_one.ask()
        assert open_one.answered()
        hold = disturb(LINK, CUT)
        assert open_one.closed()
        assert refuses(way(staging))
        assert stage.connections(LINK) == 0
        # Nothing else is cut: the same audience to another broker, another audience to this one.
        other.ask()
        assert other.answered()
        assert serves(way(staging, Link("pipeline", "broker-1")))
        assert serves(stage.bootstrap(AUDITOR, "broker-1"))
        assert stage.disturbed() == {"producer→broker-1": "disabled"}
    hold.release()
    assert serves(way(staging))
    assert stage.disturbed() == {}
    hold.release()
    assert serves(way(staging))


def test_a_cut_database(staging: Staged, disturb: Disturb) -> None:
    import psycopg

    link = Link("pipeline", POSTGRES)
    with psycopg.connect(staging.stage.database("pipeline")) as connection:
        hold = disturb(link, CUT)
        with pytest.raises(psycopg.OperationalError):
            connection.execute("SELECT 1")
    with pytest.raises(psycopg.OperationalError, match="refused"):
        psycopg.connect(staging.stage.database("pipeline"))
    with psycopg.connect(staging.stage.database(AUDITOR)) as directly:
        assert directly.execute("SELECT 1").fetchone() == (1,)
    hold.release()
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


def test_lost_responses(staging: Staged, disturb: Disturb) -> None:
    stage = staging.stage
    with Talk(way(staging)) as open_one:
        open_one.ask()
        assert open_one.answered()
        hold = disturb(LINK, lose("responses"))
        create(open_one, "lost-response")
        # The request has arrived and was carried out; only nobody says so.
        eventually(lambda: "lost-response" in topics(staging), "the topic")
        assert not open_one.answered(1)
        assert stage.connections(LINK) == 1
        # A connection that is opened meanwhile is accepted, and is as mute.
        with Talk(way(staging)) as new_one:
            new_one.ask()
            assert not new_one.answered(1)
        said = stage.disturbed().pop("producer→broker-1")
        assert said.startswith("toxics timeout-responses-")
        hold.release()
        # What was swallowed never comes: the connection ends instead.
        assert open_one.closed()
    assert serves(way(staging))
    assert stage.disturbed() == {}
    hold.release()


def test_lost_requests(staging: Staged, disturb: Disturb) -> None:
    stage = staging.stage
    with Talk(way(staging)) as open_one:
        open_one.ask()
        assert open_one.answered()
        hold = disturb(LINK, lose("requests"))
        create(open_one, "lost-request")
        assert not open_one.answered(1)
        said = stage.disturbed().pop("producer→broker-1")
        assert said.startswith("toxics timeout-requests-")
        hold.release()
        assert open_one.closed()
    assert "lost-request" not in topics(staging)
    with Talk(way(staging)) as new_one:
        create(new_one, "lost-request")
        assert new_one.answered()
    eventually(lambda: "lost-request" in topics(staging), "the topic")


def test_both_ways_at_once(staging: Staged, disturb: Disturb) -> None:
    ways: tuple[Way, Way] = ("requests", "responses")
    holds = [disturb(LINK, lose(way)) for way in ways]
    with Talk(way(staging)) as talk:
        talk.ask()
        assert not talk.answered(0.5)
    said = staging.stage.disturbed()["producer→broker-1"]
    assert re.fullmatch(r"toxics timeout-requests-\d+, timeout-responses-\d+", said)
    holds[0].release()
    with Talk(way(staging)) as talk:
        talk.ask()
        assert not talk.answered(0.5)
    holds[1].release()
    assert serves(way(staging))


def test_a_link_that_two_disturb_is_whole_when_both_let_go(
    staging: Staged, disturb: Disturb
) -> None:
    first, second = disturb(LINK, CUT), disturb(LINK, CUT)
    lost = disturb(LINK, lose("responses"))
    first.release()
    assert refuses(way(staging))
    lost.release()
    assert staging.stage.disturbed() == {"producer→broker-1": "disabled"}
    second.release()
    assert serves(way(staging))
    assert staging.stage.disturbed() == {}


def test_a_broker_that_comes_back_opens_no_link_that_is_cut(
    staging: Staged, disturb: Disturb
) -> None:
    stage, between = staging.stage, Link("broker-2", "broker-1")
    holds = [disturb(LINK, CUT), disturb(between, CUT)]
    stage.kill("broker-1", "a test")
    try:
        mended = disturb(Link("pipeline", "broker-1"), CUT)
        mended.release()
        assert refuses(stage.bootstrap("pipeline", "broker-1")), "it is dead"
    finally:
        stage.restart("broker-1")
    assert stage.disturbed() == {str(LINK): "disabled", str(between): "disabled"}
    assert refuses(way(staging))
    assert serves(stage.bootstrap("pipeline", "broker-1"))
    for hold in holds:
        hold.release()
    assert serves(way(staging))
    assert stage.disturbed() == {}


@pytest.mark.parametrize(
    "link",
    [Link("auditor", "broker-1"), Link("producer", "broker-9"), Link("broker-1", "broker-1")],
)
def test_a_link_that_there_is_not(staging: Staged, link: Link) -> None:
    calls: list[Callable[[], object]] = [
        lambda: staging.stage.disturb(link, CUT),
        lambda: staging.stage.connections(link),
    ]
    for call in calls:
        with pytest.raises(StageTrouble) as error:
            call()
        assert f"unknown link {link}: expected broker-1→broker-2, " in str(error.value)
        for known in staging.stage.links():
            assert str(known) in str(error.value)


def test_what_is_disturbed_is_named_as_a_link(staging: Staged, disturb: Disturb) -> None:
    between = Link("broker-1", "broker-2")  # two proxies, and one link
    disturb(LINK, CUT)
    disturb(between, lose("responses"))
    disturbed = staging.stage.disturbed()
    assert disturbed.pop("producer→broker-1") == "disabled"
    assert disturbed.pop("broker-1→broker-2").startswith("toxics timeout-responses-")
    assert disturbed == {}


def test_an_admin_client_on_a_cut_link_goes_on_over_the_others(
    staging: Staged, disturb: Disturb
) -> None:
    disturb(LINK, CUT)
    admin = AdminClient({"bootstrap.servers": staging.stage.bootstrap("producer"), "log_level": 0})
    assert set(admin.list_topics(timeout=20).brokers) == {1, 2, 3}
