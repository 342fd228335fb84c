"""Every fault of a link on a real stage, as a client of the test's own meets it, and gone after."""

from __future__ import annotations

import contextlib
import re
import socket
import threading
import time
from collections.abc import Callable, Iterator

import psycopg
import pytest

from onceproof.harness.faults.by_hand import asked, by_hand
from onceproof.harness.faults.page import cell
from onceproof.harness.links.disturbances import CUT
from onceproof.harness.links.topology import POSTGRES, Link
from onceproof.harness.processes.trouble import StageTrouble
from tests.integration.faults import at_work, context
from tests.integration.staging import Staged, Talk, eventually, flowing, metadata, serves
from tests.integration.test_stage_links import create, topics, way

pytestmark = pytest.mark.integration

LINK = Link("producer", "broker-1")


@pytest.fixture
def client(staging: Staged) -> Iterator[Talk]:
    """A connection of somebody's on the link: without one, nobody is disturbed."""
    with Talk(way(staging)) as talk:
        talk.socket.settimeout(None)  # bytes may come one by one
        talk.ask()
        assert talk.answered()
        yield talk


def seconds(look: Callable[[], object]) -> float:
    began = time.monotonic()
    assert look()
    return time.monotonic() - began


def hung_up(talk: Talk) -> bool:
    """Whether a broker ends the connection, told what is no request."""
    talk.socket.sendall(b"\0\0\0\4\xff\xff\xff\xff")
    return talk.closed()


def whole_again(staging: Staged) -> None:
    assert serves(way(staging))
    assert staging.stage.disturbed() == {}


def test_lost_requests_have_no_effect(staging: Staged, client: Talk) -> None:
    with at_work(context(staging.stage), "lose-requests producer broker-1") as (_, proof):
        assert "1 connections on producer→broker-1; a probe's request was not answered" in proof
        create(client, "fault-lost-request")
        assert not client.answered(0.5)
    assert client.closed()
    assert "fault-lost-request" not in topics(staging)
    whole_again(staging)


def test_lost_answers_leave_the_effect(staging: Staged, client: Talk) -> None:
    with at_work(context(staging.stage), "lose-answers producer broker-1") as (_, proof):
        assert "1 connections on producer→broker-1; a probe's request was not answered" in proof
        create(client, "fault-lost-answer")
        eventually(lambda: "fault-lost-answer" in topics(staging), "the topic")
        assert not client.answered(0.5)
    assert client.closed(), "the answer does not come after all"
    whole_again(staging)


def test_held_requests_arrive_late_though_their_sender_has_left(
    staging: Staged, client: Talk
) -> None:
    with at_work(context(staging.stage), "hold producer broker-1 requests") as (_, proof):
        assert "was not answered within 1 s, and its connection stayed open" in proof
        create(client, "fault-held-request")
        assert not client.answered(0.5)
        assert "fault-held-request" not in topics(staging)
        client.socket.close()
    eventually(lambda: "fault-held-request" in topics(staging), "the topic, at last")
    whole_again(staging)


def test_held_responses_arrive_late(staging: Staged, client: Talk) -> None:
    with at_work(context(staging.stage), "hold producer broker-1 responses"):
        create(client, "fault-held-response")
        eventually(lambda: "fault-held-response" in topics(staging), "the topic")
        assert not client.answered(0.5)
    assert client.answered()
    whole_again(staging)


@pytest.mark.parametrize("direction", ["requests", "responses"])
def test_a_delay(staging: Staged, client: Talk, direction: str) -> None:
    with at_work(context(staging.stage), f"delay producer broker-1 {direction} 200 50") as (
        fault,
        proof,
    ):
        drawn = [int(each) for each in re.findall(r"(\d+) ms drawn", proof)]
        assert len(drawn) == 5
        assert len(set(drawn)) > 1
        assert fault.target == "producer→broker-1"
        assert seconds(client.asked) >= drawn[-1] / 1000
    whole_again(staging)


@pytest.mark.parametrize("direction", ["requests", "responses"])
def test_a_throttle(staging: Staged, client: Talk, direction: str) -> None:
    with at_work(context(staging.stage), f"throttle producer broker-1 {direction} 4") as (_, proof):
        assert f"bytes of {direction} took" in proof
        began = time.monotonic()
        for _ in range(100):
            client.ask()
        assert all(client.answered() for _ in range(100))
        # 1 400 bytes of requests, some 40 000 of responses.
        assert time.monotonic() - began >= (0.2 if direction == "requests" else 2)
    whole_again(staging)


@pytest.mark.parametrize("direction", ["requests", "responses"])
def test_slices(staging: Staged, client: Talk, direction: str) -> None:
    words = f"slice producer broker-1 {direction} 7 20000"
    with at_work(context(staging.stage), words) as (_, proof):
        assert f"bytes of {direction} took" in proof
        # 14 bytes of request, hundreds of response: 20 ms after each seven.
        assert seconds(client.asked) >= (0.02 if direction == "requests" else 0.4)
    assert client.closed()
    whole_again(staging)


def test_a_slow_close(staging: Staged, client: Talk) -> None:
    with at_work(context(staging.stage), "close-slowly producer broker-1 600") as (_, proof):
        assert "a probe's connection was closed after " in proof
        assert seconds(lambda: hung_up(client)) >= 0.6
    with Talk(way(staging)) as again:
        assert hung_up(again)
    whole_again(staging)


def test_a_reset(staging: Staged, client: Talk) -> None:
    with at_work(context(staging.stage), "reset producer broker-1") as (_, proof):
        assert "a new connection of a probe was reset" in proof
        with Talk(way(staging)) as fresh:
            fresh.ask()
            with pytest.raises(ConnectionResetError):
                fresh.socket.recv(1)
    whole_again(staging)


@pytest.mark.parametrize("size", [3, 100, 5000])
def test_cut_after_so_many_bytes_of_responses(staging: Staged, client: Talk, size: int) -> None:
    words = f"cut-after producer broker-1 responses {size}"
    with at_work(context(staging.stage), words) as (_, proof):
        assert f"closed after exactly {size} bytes of responses" in proof
        with Talk(way(staging)) as fresh:
            with contextlib.suppress(ConnectionError):
                for _ in range(100):
                    fresh.ask()
            assert received(fresh.socket) == size
    whole_again(staging)


@pytest.mark.parametrize("size", [13, 30])
def test_cut_after_so_many_bytes_of_requests(staging: Staged, client: Talk, size: int) -> None:
    words = f"cut-after producer broker-1 requests {size}"
    with at_work(context(staging.stage), words), Talk(way(staging)) as fresh:
        for _ in range(size // 14):
            fresh.ask()
            assert fresh.answered()
        with contextlib.suppress(ConnectionError):
            fresh.ask()
            assert not fresh.answered()
    whole_again(staging)


def received(connection: socket.socket) -> int:
    total = 0
    with contextlib.suppress(ConnectionError):
        while data := connection.recv(1 << 16):
            total += len(data)
    return total


def at_once(address: str) -> bool:
    """Whether a new client of the database is answered, and hung up on, without delay."""
    began = time.monotonic()
    with contextlib.suppress(psycopg.OperationalError, OSError):
        with psycopg.connect(address, connect_timeout=2) as somebody:
            somebody.execute("SELECT 1").fetchone()
        info = psycopg.conninfo.conninfo_to_dict(address)
        with socket.create_connection((str(info["host"]), int(str(info["port"]))), 2) as stranger:
            stranger.sendall(b"\0\0\0\7no!")  # no start of anything: the database hangs up
            received(stranger)
        return time.monotonic() - began < 0.3
    return False


OF_THE_DATABASE = {
    "close-slowly": "600",
    "cut": "",
    "cut-after": "responses 5",
    "delay": "responses 300 0",
    "hold": "requests",
    "lose-answers": "",
    "lose-requests": "",
    "reset": "",
    "slice": "responses 4 10000",
    "throttle": "responses 1",
}
"""What comes after the target, so strong that nobody can take it for chance."""


@pytest.mark.parametrize("name", OF_THE_DATABASE)
def test_the_way_to_the_database(staging: Staged, name: str) -> None:
    words = f"{name} pipeline postgres {OF_THE_DATABASE[name]}"
    address, link = staging.stage.database("pipeline"), Link("pipeline", POSTGRES)
    with psycopg.connect(address, autocommit=True) as somebody:
        assert somebody.execute("SELECT 1").fetchone() == (1,)
        eventually(lambda: staging.stage.connections(link) == 1, "those of other tests to be gone")
        with at_work(context(staging.stage), words) as (fault, proof):
            assert fault.target == "pipeline→postgres"
            assert "1 connections on pipeline→postgres" in proof
            assert not at_once(address)
    eventually(lambda: at_once(address), "the database to answer as if nothing had been")
    assert staging.stage.disturbed() == {}


def test_a_way_to_the_database_that_flaps(staging: Staged) -> None:
    def use() -> None:
        with contextlib.suppress(psycopg.OperationalError), psycopg.connect(address) as somebody:
            while somebody.execute("SELECT 1").fetchone() and not over.wait(0.05):
                pass

    address, over = staging.stage.database("pipeline"), threading.Event()
    with flowing(use):
        try:
            with at_work(context(staging.stage), "flap pipeline postgres 3") as (_, proof):
                assert proof.count("connections on pipeline→postgres closed") == 3
                with pytest.raises(psycopg.OperationalError, match="refused"):
                    psycopg.connect(address)
        finally:
            over.set()
    with psycopg.connect(address) as again:
        assert again.execute("SELECT 1").fetchone() == (1,)
    assert staging.stage.disturbed() == {}


def test_every_fault_of_the_way_to_the_database_is_here() -> None:
    aimed = {name for name, entry in by_hand().items() if cell(entry, "postgres")}
    assert aimed == {*OF_THE_DATABASE, "flap"}


def test_a_way_between_brokers(staging: Staged) -> None:
    stage = staging.stage
    between = [link for link in stage.links() if link.source in stage.brokers]
    used = eventually(
        lambda: next(filter(stage.connections, between), None), "a connection between brokers"
    )
    words = f"delay {used.source} {used.target} responses 100 0"
    with at_work(context(stage), words) as (fault, proof):
        assert fault.target == str(used)
        assert f"connections on {used}; 100 ms drawn" in proof
    assert staging.stage.disturbed() == {}


def test_what_nobody_uses_is_not_disturbed(staging: Staged) -> None:
    injection = asked("lose-requests", ["producer", "broker-2"]).inject(
        context(staging.stage), "lost"
    )
    try:
        assert injection.evidence() is None
        assert injection.evidence() is None
    finally:
        injection.heal()
    assert metadata(staging.stage.bootstrap("producer", "broker-2")).brokers


def test_a_link_that_is_cut_already(staging: Staged) -> None:
    with (
        staging.stage.disturb(LINK, CUT),
        pytest.raises(StageTrouble, match=r"did not work before the fault: .*refused"),
    ):
        asked("delay", ["producer", "broker-1", "requests", "9", "0"]).inject(
            context(staging.stage), "delay"
        )
    assert staging.stage.disturbed() == {}
