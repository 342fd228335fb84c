"""Every link fault on a real stage, observed by a client and gone after healing."""

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
from tests.integration.faults import active_fault, context
from tests.integration.staging import Staged, Talk, eventually, flowing, metadata, serves
from tests.integration.test_stage_links import address_of, create, topics

pytestmark = pytest.mark.integration

LINK = Link("producer", "broker-1")


@pytest.fixture
def client(staging: Staged) -> Iterator[Talk]:
    """A connection on the link: a link without connections cannot be disturbed."""
    with Talk(address_of(staging)) as talk:
        talk.socket.settimeout(None)  # bytes may arrive one by one
        talk.ask()
        assert talk.answered()
        yield talk


def elapsed(look: Callable[[], object]) -> float:
    began = time.monotonic()
    assert look()
    return time.monotonic() - began


def hung_up(talk: Talk) -> bool:
    """Whether a broker closes the connection after an invalid request."""
    talk.socket.sendall(b"\0\0\0\4\xff\xff\xff\xff")
    return talk.closed()


def assert_undisturbed(staging: Staged) -> None:
    assert serves(address_of(staging))
    assert staging.stage.disturbed() == {}


def test_lost_requests_have_no_effect(staging: Staged, client: Talk) -> None:
    with active_fault(context(staging.stage), "lose-requests producer broker-1") as (_, proof):
        assert "1 connections on producer→broker-1; a probe's request was not answered" in proof
        create(client, "fault-lost-request")
        assert not client.answered(0.5)
    assert client.closed()
    assert "fault-lost-request" not in topics(staging)
    assert_undisturbed(staging)


def test_lost_answers_keep_the_effect(staging: Staged, client: Talk) -> None:
    with active_fault(context(staging.stage), "lose-answers producer broker-1") as (_, proof):
        assert "1 connections on producer→broker-1; a probe's request was not answered" in proof
        create(client, "fault-lost-answer")
        eventually(lambda: "fault-lost-answer" in topics(staging), "the topic")
        assert not client.answered(0.5)
    assert client.closed(), "the answer does not come after all"
    assert_undisturbed(staging)


def test_held_request_arrives_after_its_client_disconnected(staging: Staged, client: Talk) -> None:
    with active_fault(context(staging.stage), "hold producer broker-1 requests") as (_, proof):
        assert "was not answered within 1 s, and its connection stayed open" in proof
        create(client, "fault-held-request")
        assert not client.answered(0.5)
        assert "fault-held-request" not in topics(staging)
        client.socket.close()
    eventually(lambda: "fault-held-request" in topics(staging), "the topic, at last")
    assert_undisturbed(staging)


def test_held_responses_arrive_after_heal(staging: Staged, client: Talk) -> None:
    with active_fault(context(staging.stage), "hold producer broker-1 responses"):
        create(client, "fault-held-response")
        eventually(lambda: "fault-held-response" in topics(staging), "the topic")
        assert not client.answered(0.5)
    assert client.answered()
    assert_undisturbed(staging)


@pytest.mark.parametrize("direction", ["requests", "responses"])
def test_delay_draws_varying_delays(staging: Staged, client: Talk, direction: str) -> None:
    with active_fault(context(staging.stage), f"delay producer broker-1 {direction} 200 50") as (
        fault,
        proof,
    ):
        drawn = [int(each) for each in re.findall(r"(\d+) ms drawn", proof)]
        assert len(drawn) == 5
        assert len(set(drawn)) > 1
        assert fault.target == "producer→broker-1"
        assert elapsed(client.asked) >= drawn[-1] / 1000
    assert_undisturbed(staging)


@pytest.mark.parametrize("direction", ["requests", "responses"])
def test_throttle_limits_throughput(staging: Staged, client: Talk, direction: str) -> None:
    with active_fault(context(staging.stage), f"throttle producer broker-1 {direction} 4") as (
        _,
        proof,
    ):
        assert f"bytes of {direction} took" in proof
        began = time.monotonic()
        for _ in range(100):
            client.ask()
        assert all(client.answered() for _ in range(100))
        # 1 400 bytes of requests, some 40 000 of responses.
        assert time.monotonic() - began >= (0.2 if direction == "requests" else 2)
    assert_undisturbed(staging)


@pytest.mark.parametrize("direction", ["requests", "responses"])
def test_slice_delays_each_slice(staging: Staged, client: Talk, direction: str) -> None:
    command = f"slice producer broker-1 {direction} 7 20000"
    with active_fault(context(staging.stage), command) as (_, proof):
        assert f"bytes of {direction} took" in proof
        # 20 ms after every 7 bytes: a request has 14, a response hundreds.
        assert elapsed(client.asked) >= (0.02 if direction == "requests" else 0.4)
    assert client.closed()
    assert_undisturbed(staging)


def test_close_slowly_delays_the_close(staging: Staged, client: Talk) -> None:
    with active_fault(context(staging.stage), "close-slowly producer broker-1 600") as (_, proof):
        assert "a probe's connection was closed after " in proof
        assert elapsed(lambda: hung_up(client)) >= 0.6
    with Talk(address_of(staging)) as again:
        assert hung_up(again)
    assert_undisturbed(staging)


def test_reset_resets_new_connections(staging: Staged, client: Talk) -> None:
    with active_fault(context(staging.stage), "reset producer broker-1") as (_, proof):
        assert "a new connection of a probe was reset" in proof
        with Talk(address_of(staging)) as fresh:
            fresh.ask()
            with pytest.raises(ConnectionResetError):
                fresh.socket.recv(1)
    assert_undisturbed(staging)


@pytest.mark.parametrize("size", [3, 100, 5000])
def test_cut_after_delivers_exact_number_of_response_bytes(
    staging: Staged, client: Talk, size: int
) -> None:
    command = f"cut-after producer broker-1 responses {size}"
    with active_fault(context(staging.stage), command) as (_, proof):
        assert f"closed after exactly {size} bytes of responses" in proof
        with Talk(address_of(staging)) as fresh:
            with contextlib.suppress(ConnectionError):
                for _ in range(100):
                    fresh.ask()
            assert count_received(fresh.socket) == size
    assert_undisturbed(staging)


@pytest.mark.parametrize("size", [13, 30])
def test_cut_after_passes_whole_requests_within_its_size(
    staging: Staged, client: Talk, size: int
) -> None:
    command = f"cut-after producer broker-1 requests {size}"
    with active_fault(context(staging.stage), command), Talk(address_of(staging)) as fresh:
        for _ in range(size // 14):
            fresh.ask()
            assert fresh.answered()
        with contextlib.suppress(ConnectionError):
            fresh.ask()
            assert not fresh.answered()
    assert_undisturbed(staging)


def count_received(connection: socket.socket) -> int:
    total = 0
    with contextlib.suppress(ConnectionError):
        while data := connection.recv(1 << 16):
            total += len(data)
    return total


def answers_at_once(address: str) -> bool:
    """Whether the database answers a valid client and disconnects an invalid one without delay."""
    began = time.monotonic()
    with contextlib.suppress(psycopg.OperationalError, OSError):
        with psycopg.connect(address, connect_timeout=2) as connection:
            connection.execute("SELECT 1").fetchone()
        info = psycopg.conninfo.conninfo_to_dict(address)
        with socket.create_connection(
            (str(info["host"]), int(str(info["port"]))), 2
        ) as invalid_client:
            invalid_client.sendall(
                b"\0\0\0\7no!"
            )  # an invalid start-up message: the database disconnects
            count_received(invalid_client)
        return time.monotonic() - began < 0.3
    return False


DATABASE_FAULTS = {
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
"""Arguments after the target, strong enough to rule out chance."""


@pytest.mark.parametrize("name", DATABASE_FAULTS)
def test_database_link_fault_disturbs_clients(staging: Staged, name: str) -> None:
    command = f"{name} pipeline postgres {DATABASE_FAULTS[name]}"
    address, link = staging.stage.database("pipeline"), Link("pipeline", POSTGRES)
    with psycopg.connect(address, autocommit=True) as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)
        eventually(lambda: staging.stage.connections(link) == 1, "those of other tests to be gone")
        with active_fault(context(staging.stage), command) as (fault, proof):
            assert fault.target == "pipeline→postgres"
            assert "1 connections on pipeline→postgres" in proof
            assert not answers_at_once(address)
    eventually(lambda: answers_at_once(address), "the database to answer as if nothing had been")
    assert staging.stage.disturbed() == {}


def test_flap_cuts_database_link_repeatedly(staging: Staged) -> None:
    def use() -> None:
        with contextlib.suppress(psycopg.OperationalError), psycopg.connect(address) as connection:
            while connection.execute("SELECT 1").fetchone() and not over.wait(0.05):
                pass

    address, over = staging.stage.database("pipeline"), threading.Event()
    with flowing(use):
        try:
            with active_fault(context(staging.stage), "flap pipeline postgres 3") as (_, proof):
                assert proof.count("connections on pipeline→postgres closed") == 3
                with pytest.raises(psycopg.OperationalError, match="refused"):
                    psycopg.connect(address)
        finally:
            over.set()
    with psycopg.connect(address) as again:
        assert again.execute("SELECT 1").fetchone() == (1,)
    assert staging.stage.disturbed() == {}


def test_covers_every_database_link_fault() -> None:
    aimed = {name for name, entry in by_hand().items() if cell(entry, "postgres")}
    assert aimed == {*DATABASE_FAULTS, "flap"}


def test_delays_link_between_brokers(staging: Staged) -> None:
    stage = staging.stage
    between = [link for link in stage.links() if link.source in stage.brokers]
    used = eventually(
        lambda: next(filter(stage.connections, between), None), "a connection between brokers"
    )
    command = f"delay {used.source} {used.target} responses 100 0"
    with active_fault(context(stage), command) as (fault, proof):
        assert fault.target == str(used)
        assert f"connections on {used}; 100 ms drawn" in proof
    assert staging.stage.disturbed() == {}


def test_unused_link_yields_no_evidence(staging: Staged) -> None:
    injection = asked("lose-requests", ["producer", "broker-2"]).inject(
        context(staging.stage), "lost"
    )
    try:
        assert injection.evidence() is None
        assert injection.evidence() is None
    finally:
        injection.heal()
    assert metadata(staging.stage.bootstrap("producer", "broker-2")).brokers


def test_delay_refuses_cut_link(staging: Staged) -> None:
    with (
        staging.stage.disturb(LINK, CUT),
        pytest.raises(StageTrouble, match=r"did not work before the fault: .*refused"),
    ):
        asked("delay", ["producer", "broker-1", "requests", "9", "0"]).inject(
            context(staging.stage), "delay"
        )
    assert staging.stage.disturbed() == {}
