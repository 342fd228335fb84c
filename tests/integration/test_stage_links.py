"""Cut links and links that lose bytes, observed at both ends of the connection."""

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


def address_of(staging: Staged, link: Link = LINK) -> str:
    return staging.stage.bootstrap(link.source, link.target)


def test_counts_connections_of_a_link(staging: Staged) -> None:
    stage = staging.stage
    assert stage.connections(LINK) == 0
    with Talk(address_of(staging)) as one, Talk(address_of(staging)) as two:
        one.ask()
        two.ask()
        assert one.answered()
        assert two.answered()
        assert stage.connections(LINK) == 2
        assert stage.connections(Link("producer", "broker-2")) == 0
        assert stage.connections(Link("pipeline", "broker-1")) == 0
    eventually(lambda: stage.connections(LINK) == 0, "no connection")


def test_counts_connections_behind_the_proxies(staging: Staged) -> None:
    stage = staging.stage
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
        assert stage.connected("producer") == 3
        assert stage.connected("pipeline") == 0
    eventually(lambda: stage.connected("producer") == 0, "no connection behind the proxies")


def test_brokers_connect_through_their_links(staging: Staged) -> None:
    for node in staging.stage.brokers:
        eventually(
            lambda node=node: sum(map(staging.stage.connections, peers(staging.stage, node))),
            f"a connection between {node} and another broker",
        )


def test_cut_closes_and_refuses_connections_of_its_link_only(
    staging: Staged, disturb: Disturb
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
        assert refuses(address_of(staging))
        assert stage.connections(LINK) == 0
        # Not cut: the same audience's link to another broker, another audience's to this one.
        other.ask()
        assert other.answered()
        assert serves(address_of(staging, Link("pipeline", "broker-1")))
        assert serves(stage.bootstrap(AUDITOR, "broker-1"))
        assert stage.disturbed() == {"producer→broker-1": "disabled"}
    hold.release()
    assert serves(address_of(staging))
    assert stage.disturbed() == {}
    hold.release()
    assert serves(address_of(staging))


def test_cut_database_is_reachable_by_the_auditor_only(staging: Staged, disturb: Disturb) -> None:
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
    """Send a CreateTopics request, whose effect is visible to others."""
    creatable = CreateTopicsRequest.CreatableTopic
    request = CreateTopicsRequest(
        topics=[
            creatable(
                name=topic, num_partitions=1, replication_factor=3, assignments=[], configs=[]
            )
        ],
        timeout_ms=10_000,
        validate_only=False,
    )
    request.with_header(correlation_id=7, client_id="test")
    talk.socket.sendall(request.encode(version=4, framed=True, header=True))


def topics(staging: Staged) -> set[str]:
    return set(metadata(staging.stage.bootstrap(AUDITOR, "broker-2")).topics)


def test_lost_responses_keep_effects_and_end_the_connection(
    staging: Staged, disturb: Disturb
) -> None:
    stage = staging.stage
    with Talk(address_of(staging)) as talk:
        talk.ask()
        assert talk.answered()
        hold = disturb(LINK, lose("responses"))
        create(talk, "lost-response")
        # The request was executed; only its response is lost.
        eventually(lambda: "lost-response" in topics(staging), "the topic")
        assert not talk.answered(1)
        assert stage.connections(LINK) == 1
        # A new connection is accepted and gets no response either.
        with Talk(address_of(staging)) as new_talk:
            new_talk.ask()
            assert not new_talk.answered(1)
        toxics = stage.disturbed().pop("producer→broker-1")
        assert toxics.startswith("toxics timeout-responses-")
        hold.release()
        # The lost response never arrives: the connection is closed instead.
        assert talk.closed()
    assert serves(address_of(staging))
    assert stage.disturbed() == {}
    hold.release()


def test_lost_requests_have_no_effect(staging: Staged, disturb: Disturb) -> None:
    stage = staging.stage
    with Talk(address_of(staging)) as talk:
        talk.ask()
        assert talk.answered()
        hold = disturb(LINK, lose("requests"))
        create(talk, "lost-request")
        assert not talk.answered(1)
        toxics = stage.disturbed().pop("producer→broker-1")
        assert toxics.startswith("toxics timeout-requests-")
        hold.release()
        assert talk.closed()
    assert "lost-request" not in topics(staging)
    with Talk(address_of(staging)) as new_talk:
        create(new_talk, "lost-request")
        assert new_talk.answered()
    eventually(lambda: "lost-request" in topics(staging), "the topic")


def test_losses_in_both_directions_are_released_separately(
    staging: Staged, disturb: Disturb
) -> None:
    directions: tuple[Way, Way] = ("requests", "responses")
    holds = [disturb(LINK, lose(direction)) for direction in directions]
    with Talk(address_of(staging)) as talk:
        talk.ask()
        assert not talk.answered(0.5)
    toxics = staging.stage.disturbed()["producer→broker-1"]
    assert re.fullmatch(r"toxics timeout-requests-\d+, timeout-responses-\d+", toxics)
    holds[0].release()
    with Talk(address_of(staging)) as talk:
        talk.ask()
        assert not talk.answered(0.5)
    holds[1].release()
    assert serves(address_of(staging))


def test_link_is_restored_after_the_last_release(staging: Staged, disturb: Disturb) -> None:
    first, second = disturb(LINK, CUT), disturb(LINK, CUT)
    lost = disturb(LINK, lose("responses"))
    first.release()
    assert refuses(address_of(staging))
    lost.release()
    assert staging.stage.disturbed() == {"producer→broker-1": "disabled"}
    second.release()
    assert serves(address_of(staging))
    assert staging.stage.disturbed() == {}


def test_restarted_broker_keeps_cut_links_closed(staging: Staged, disturb: Disturb) -> None:
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
    assert refuses(address_of(staging))
    assert serves(stage.bootstrap("pipeline", "broker-1"))
    for hold in holds:
        hold.release()
    assert serves(address_of(staging))
    assert stage.disturbed() == {}


@pytest.mark.parametrize(
    "link",
    [Link("auditor", "broker-1"), Link("producer", "broker-9"), Link("broker-1", "broker-1")],
)
def test_unknown_link_is_refused(staging: Staged, link: Link) -> None:
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


def test_disturbed_names_links_not_proxies(staging: Staged, disturb: Disturb) -> None:
    between = Link("broker-1", "broker-2")  # two proxies, and one link
    disturb(LINK, CUT)
    disturb(between, lose("responses"))
    disturbed = staging.stage.disturbed()
    assert disturbed.pop("producer→broker-1") == "disabled"
    assert disturbed.pop("broker-1→broker-2").startswith("toxics timeout-responses-")
    assert disturbed == {}


def test_admin_client_bypasses_cut_link(staging: Staged, disturb: Disturb) -> None:
    disturb(LINK, CUT)
    admin = AdminClient({"bootstrap.servers": staging.stage.bootstrap("producer"), "log_level": 0})
    assert set(admin.list_topics(timeout=20).brokers) == {1, 2, 3}
