"""Every action of the gate: what a scripted broker receives and what the client sees."""

from __future__ import annotations

import contextlib
import itertools
import os
import socket
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from kafka.protocol.consumer import (
    FetchRequest,
    FetchResponse,
    OffsetCommitRequest,
    OffsetCommitResponse,
)
from kafka.protocol.metadata import FindCoordinatorRequest, MetadataRequest
from kafka.protocol.producer import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    EndTxnRequest,
    EndTxnResponse,
    ProduceRequest,
    ProduceResponse,
    TxnOffsetCommitRequest,
)
from kafka.record.memory_records import MemoryRecordsBuilder

from onceproof.harness.links.blocks import Block, free_ports, take_block
from onceproof.harness.links.gate.client import Gate, Placed
from onceproof.harness.links.gate.gated import Route
from onceproof.harness.links.gate.rules import MessageMatch
from onceproof.harness.processes.processes import Processes
from onceproof.harness.processes.sweep import new_marker
from onceproof.harness.processes.trouble import StageTrouble
from onceproof.harness.wait import wait_until
from tests.unit.harness.links.gate.made_up_broker import (
    SECONDS,
    Client,
    MadeUpBroker,
    answer,
    correlation,
    frame,
    read_exactly,
)

_numbers = itertools.count(1)


def end_txn(
    number: int, transactional_id: str = "t", client_id: str = "it", committed: bool = True
) -> bytes:
    request = EndTxnRequest(
        transactional_id=transactional_id, producer_id=1, producer_epoch=0, committed=committed
    )
    return frame(request, correlation_id=number, version=3, client_id=client_id)


def find_coordinator(number: int, key: str = "g", kind: int = 0) -> bytes:
    request = FindCoordinatorRequest(key_type=kind, coordinator_keys=[key])
    return frame(request, correlation_id=number, version=4)


@pytest.fixture(scope="module")
def block() -> Iterator[Block]:
    """Loopback addresses that no other test process uses."""
    taken = take_block()
    yield taken
    taken.release()


@pytest.fixture(scope="module")
def gate(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gate]:
    logs = tmp_path_factory.mktemp("gate")
    processes = Processes(new_marker(), logs)
    yield Gate(processes)
    processes.kill_all("the tests are over")


class Link:
    """A gated link to a scripted broker, and its clients."""

    def __init__(self, gate: Gate, name: str, address: str, broker: MadeUpBroker) -> None:
        self.gate, self.name, self.address, self.broker = gate, name, address, broker
        self._clients: list[Client] = []

    def client(self) -> Client:
        self._clients.append(Client(self.address))
        return self._clients[-1]

    def put(
        self, direction: str, api: str, action: str, *, times: int | None = 1,
        error: str | None = None, **more: Any,
    ) -> Placed:  # fmt: skip
        match = MessageMatch(direction=direction, api=api, **more)  # type: ignore[arg-type]
        rule = match.rule(action, times=times, error=error)  # type: ignore[arg-type]
        return self.gate.put([self.name], rule)

    @property
    def state(self) -> dict[str, Any]:
        return self.gate.state()[self.name]

    def events(self, kind: str) -> list[dict[str, Any]]:
        return [
            dict(e) for e in self.gate.events() if e["link"] == self.name and e["event"] == kind
        ]

    def close(self) -> None:
        for client in self._clients:
            client.close()


@pytest.fixture
def link(gate: Gate, block: Block) -> Iterator[Link]:
    broker = MadeUpBroker()
    number = next(_numbers)
    host = block.address(1, number)
    port = free_ports([host], count=1)
    name = f"link-{number}"
    gate.open(name, [Route(listen=f"{host}:{port}", upstream=broker.address)])
    gated_link = Link(gate, name, f"{host}:{port}", broker)
    yield gated_link
    gated_link.close()
    with contextlib.suppress(StageTrouble):
        gate.close(name)
    broker.close()


def test_passes_everything_without_a_rule(link: Link) -> None:
    client = link.client()
    requests = [end_txn(1), find_coordinator(2), end_txn(3), b"\0\0\0\x0b" + os.urandom(11)]
    requests[3] = struct.pack(">ihhih", 11, 999, 0, 4, 1) + b"x"  # an unknown API
    link.broker.reply = lambda data: struct.pack(">ii", 9, correlation(data)) + b"hello"
    for part in (b"".join(requests)[n : n + 5] for n in range(0, 200, 5)):
        client.send(part)
    answers = [client.receive() for _ in requests]
    assert link.broker.wait(4) == requests
    assert answers == [struct.pack(">ii", 9, n) + b"hello" for n in (1, 2, 3, 4)]
    state = link.state
    assert state["request"]["EndTxn"] == {"frames": 2, "bytes": len(requests[0]) * 2}
    assert state["request"]["API 999"] == {"frames": 1, "bytes": 15}
    assert state["response"]["FindCoordinator"] == {"frames": 1, "bytes": 13}
    assert (state["firings"], state["held"], state["connections"], state["rules"]) == (0, 0, 1, [])


def test_passes_messages_larger_than_all_buffers(link: Link) -> None:
    """Sends are partial and reading has to pause."""
    body = os.urandom(24 << 20)
    request = struct.pack(">ihhih", len(body) + 10, 999, 0, 7, -1) + body
    reply = struct.pack(">ii", len(body) + 4, 7) + body
    link.broker.reply = lambda _: reply
    client = link.client()
    for times in (1, 2):
        client.send(request)
        assert link.broker.wait(times) == [request] * times
        assert client.receive() == reply


def test_hold_delays_a_request_until_release(link: Link) -> None:
    rule = link.put("request", "EndTxn", "hold")
    client = link.client()
    client.send(find_coordinator(1), end_txn(2), find_coordinator(3))
    assert client.receive() == answer(find_coordinator(1))
    event = rule.wait_fired(seconds=SECONDS)
    assert link.broker.received == [find_coordinator(1)]
    assert link.state["held"] == 1
    assert rule.delivered == []
    assert (event["api"], event["version"], event["correlation_id"]) == ("EndTxn", 3, 2)
    assert (event["client_id"], event["direction"]) == ("it", "request")
    assert rule.release() == 1
    assert client.receive() == answer(end_txn(2))
    assert client.receive() == answer(find_coordinator(3))
    assert link.broker.received == [find_coordinator(1), end_txn(2), find_coordinator(3)]
    assert [e["rule"] for e in rule.delivered] == [rule.id]
    assert link.state["held"] == 0
    assert rule.release() == 0


def test_held_request_is_delivered_after_its_client_disconnects(link: Link) -> None:
    rule = link.put("request", "EndTxn", "hold")
    client = link.client()
    client.send(end_txn(1))
    rule.wait_fired(seconds=SECONDS)
    client.close()
    other = link.client()
    other.send(end_txn(2))  # the rule acts once
    assert other.receive() == answer(end_txn(2))
    assert link.broker.ended_connections == 0
    rule.release()
    assert link.broker.wait(2) == [end_txn(2), end_txn(1)]
    link.broker.wait_ended()
    wait_until(lambda: link.state["connections"] == 1, what="one connection", seconds=SECONDS)
    assert len(rule.delivered) == 1


def test_held_request_survives_a_client_reset(link: Link) -> None:
    rule = link.put("request", "EndTxn", "hold")
    client = link.client()
    client.send(find_coordinator(1), end_txn(2))
    rule.wait_fired(seconds=SECONDS)
    client.reset()
    rule.release()
    assert link.broker.wait(2) == [find_coordinator(1), end_txn(2)]
    link.broker.wait_ended()


def test_held_request_survives_a_close_by_another_rule(link: Link) -> None:
    rule = link.put("request", "EndTxn", "hold")
    link.put("response", "FindCoordinator", "close-before")
    link.broker.may_answer.clear()
    client = link.client()
    client.send(find_coordinator(1), end_txn(2))
    rule.wait_fired(seconds=SECONDS)
    link.broker.may_answer.set()
    assert client.receive() is None
    assert link.broker.ended_connections == 0
    rule.release()
    assert link.broker.wait(2) == [find_coordinator(1), end_txn(2)]
    link.broker.wait_ended()


def test_requests_after_a_close_are_not_held(link: Link) -> None:
    link.put("request", "EndTxn", "close-before")
    rule = link.put("request", "FindCoordinator", "hold")
    client = link.client()
    client.send(end_txn(1), find_coordinator(2))
    assert client.receive() is None
    assert link.state["held"] == 0
    assert len(rule.lost) == len(rule.fired)
    link.broker.wait_ended()
    assert link.broker.received == []


def test_half_closed_client_still_gets_answers(link: Link) -> None:
    link.broker.may_answer.clear()
    client = link.client()
    client.send(find_coordinator(1), end_txn(2))
    client.socket.shutdown(socket.SHUT_WR)
    link.broker.wait(1)
    link.broker.may_answer.set()
    assert client.receive() == answer(find_coordinator(1))
    assert client.receive() == answer(end_txn(2))
    assert client.receive() is None


def test_held_response_to_a_disconnected_client_is_lost(link: Link) -> None:
    rule = link.put("response", "EndTxn", "hold")
    client = link.client()
    client.send(end_txn(1))
    rule.wait_fired(seconds=SECONDS)
    client.reset()
    link.broker.wait_ended()  # then the gate has noticed the reset
    assert rule.release() == 1
    wait_until(lambda: rule.lost, what="the loss to be told", seconds=SECONDS)
    assert rule.delivered == []
    wait_until(lambda: link.state["connections"] == 0, what="no connection", seconds=SECONDS)


def test_hold_delays_a_response_until_release(link: Link) -> None:
    rule = link.put("response", "EndTxn", "hold")
    client = link.client()
    client.send(end_txn(1), find_coordinator(2))
    rule.wait_fired(seconds=SECONDS)
    assert link.broker.wait(2) == [end_txn(1), find_coordinator(2)]
    assert client.silent()
    rule.release()
    assert client.receive() == answer(end_txn(1))
    assert client.receive() == answer(find_coordinator(2))


def test_removing_a_rule_releases_held_messages(link: Link) -> None:
    rule = link.put("request", "EndTxn", "hold", times=None)
    client = link.client()
    client.send(end_txn(1))
    rule.wait_fired(seconds=SECONDS)
    assert link.state["rules"] == [rule.id]
    assert len(rule.remove()) == 1
    assert client.receive() == answer(end_txn(1))
    client.send(end_txn(2))
    assert client.receive() == answer(end_txn(2))
    assert link.state["rules"] == []


@pytest.mark.parametrize("direction", ["request", "response"])
def test_held_message_can_be_lost(link: Link, direction: str) -> None:
    rule = link.put(direction, "EndTxn", "hold")
    later = link.put(direction, "FindCoordinator", "close-before")
    client = link.client()
    client.send(end_txn(1))
    rule.wait_fired(seconds=SECONDS)
    assert [key[2] for key in rule.remove(drop=True)] == [1]
    client.send(find_coordinator(2))
    assert client.receive_rest() == []
    assert link.broker.received == (
        [] if direction == "request" else [end_txn(1), find_coordinator(2)]
    )
    assert (len(rule.lost), len(rule.delivered), len(later.fired)) == (1, 0, 0)
    assert link.state["held"] == 0
    client = link.client()
    client.send(end_txn(3))
    assert client.receive() == answer(end_txn(3))


@pytest.mark.parametrize("direction", ["request", "response"])
def test_held_message_can_be_answered_with_an_error(link: Link, direction: str) -> None:
    rule = link.put(direction, "EndTxn", "hold")
    client = link.client()
    client.send(find_coordinator(1), end_txn(2), find_coordinator(3))
    rule.wait_fired(seconds=SECONDS)
    assert client.receive() == answer(find_coordinator(1))
    assert [key[2] for key in rule.remove(error="COORDINATOR_NOT_AVAILABLE")] == [2]
    response = EndTxnResponse.decode(client.receive(), version=3, header=True, framed=True)
    assert (response.error_code, response.header.correlation_id) == (15, 2)
    assert client.receive() == answer(find_coordinator(3))
    reached = [find_coordinator(1), end_txn(2), find_coordinator(3)]
    if direction == "request":
        reached.remove(end_txn(2))
    assert link.broker.received == reached
    assert (len(rule.lost), len(rule.delivered)) == ((1, 0) if direction == "request" else (0, 1))


def test_error_for_the_last_held_request_is_answered_at_once(link: Link) -> None:
    rule = link.put("request", "EndTxn", "hold")
    client = link.client()
    client.send(end_txn(1))
    rule.wait_fired(seconds=SECONDS)
    rule.remove(error="INVALID_TXN_STATE")
    response = EndTxnResponse.decode(client.receive(), version=3, header=True, framed=True)
    assert (response.error_code, response.header.correlation_id) == (48, 1)
    assert link.broker.received == []


def test_message_that_cannot_be_answered_with_an_error_is_still_held(link: Link) -> None:
    rule = link.put("request", "EndTxn", "hold")
    client = link.client()
    client.send(end_txn(1))
    rule.wait_fired(seconds=SECONDS)
    with pytest.raises(StageTrouble, match="unknown Kafka error"):
        rule.remove(error="NO_SUCH_ERROR")
    assert link.state["held"] == 1
    rule.release()
    assert client.receive() == answer(end_txn(1))


@pytest.mark.parametrize("direction", ["request", "response"])
def test_drop_loses_the_rest_of_the_connection(link: Link, direction: str) -> None:
    """Messages before the dropped one still arrive."""
    rule = link.put(direction, "EndTxn", "drop")
    client = link.client()
    requests = [find_coordinator(1), end_txn(2), find_coordinator(3), end_txn(4)]
    client.send(*requests)
    assert client.receive() == answer(find_coordinator(1))
    client.send(find_coordinator(5))
    assert client.receive_rest() == []
    assert link.broker.received == (
        requests[:1] if direction == "request" else [*requests, find_coordinator(5)]
    )
    assert [e["correlation_id"] for e in rule.fired] == [2]
    # Other connections are not affected.
    client = link.client()
    client.send(end_txn(6), find_coordinator(7))
    assert client.receive_rest() == [answer(end_txn(6)), answer(find_coordinator(7))]


def test_answers_to_requests_before_a_dropped_one_arrive(link: Link) -> None:
    link.broker.may_answer.clear()
    rule = link.put("request", "EndTxn", "drop")
    client = link.client()
    client.send(find_coordinator(1), end_txn(2))
    wait_until(lambda: rule.fired, what="the loss", seconds=SECONDS)
    link.broker.may_answer.set()
    assert client.receive_rest() == [answer(find_coordinator(1))]


@pytest.mark.parametrize("direction", ["request", "response"])
def test_rules_ignore_messages_after_a_dropped_one(link: Link, direction: str) -> None:
    drop = link.put(direction, "EndTxn", "drop")
    later = link.put(direction, "FindCoordinator", "close-before")
    client = link.client()
    client.send(end_txn(1), find_coordinator(2))
    assert client.receive_rest() == []
    assert [len(rule.fired) for rule in (drop, later)] == [1, 0]
    client = link.client()
    client.send(find_coordinator(3))
    assert client.receive() is None
    assert [e["correlation_id"] for e in later.fired] == [3]


def test_client_disconnect_after_a_drop_closes_the_brokers_side(link: Link) -> None:
    link.put("request", "EndTxn", "drop")
    client = link.client()
    client.send(find_coordinator(1), end_txn(2), find_coordinator(3))
    assert client.receive() == answer(find_coordinator(1))
    client.close()
    link.broker.wait_ended()
    assert link.broker.received == [find_coordinator(1)]
    assert link.state["connections"] == 0


@pytest.mark.parametrize("action", ["close-before", "close-after"])
def test_close_on_a_request(link: Link, action: str) -> None:
    rule = link.put("request", "EndTxn", action)
    client = link.client()
    client.send(find_coordinator(1))
    assert client.receive() == answer(find_coordinator(1))
    client.send(end_txn(2), find_coordinator(3))
    assert client.receive() is None
    link.broker.wait_ended()
    expected = [find_coordinator(1)] + ([end_txn(2)] if action == "close-after" else [])
    assert link.broker.received == expected
    assert len(rule.fired) == 1
    wait_until(lambda: link.state["connections"] == 0, what="no connection", seconds=SECONDS)


@pytest.mark.parametrize("action", ["close-before", "close-after"])
def test_close_on_a_response(link: Link, action: str) -> None:
    rule = link.put("response", "EndTxn", action)
    client = link.client()
    client.send(find_coordinator(1), end_txn(2), find_coordinator(3))
    assert client.receive() == answer(find_coordinator(1))
    if action == "close-after":
        assert client.receive() == answer(end_txn(2))
    assert client.receive() is None
    link.broker.wait_ended()
    assert link.broker.received[:2] == [find_coordinator(1), end_txn(2)]
    assert len(rule.fired) == 1
    wait_until(lambda: link.state["connections"] == 0, what="no connection", seconds=SECONDS)


def test_error_replaces_the_code_of_a_response(link: Link) -> None:
    link.put("response", "EndTxn", "error", error="COORDINATOR_NOT_AVAILABLE")
    client = link.client()
    client.send(end_txn(1), end_txn(2))
    response = EndTxnResponse.decode(client.receive(), version=3, header=True, framed=True)
    assert (response.error_code, response.header.correlation_id) == (15, 1)
    assert client.receive() == answer(end_txn(2))
    assert link.broker.wait(2) == [end_txn(1), end_txn(2)]


def add_partitions(number: int) -> bytes:
    topic = AddPartitionsToTxnRequest.AddPartitionsToTxnTopic(
        version=3, name="orders", partitions=[3, 5]
    )
    request = AddPartitionsToTxnRequest(
        v3_and_below_transactional_id="t",
        v3_and_below_producer_id=1,
        v3_and_below_producer_epoch=0,
        v3_and_below_topics=[topic],
    )
    return frame(request, correlation_id=number, version=3)


def test_error_answers_a_request_in_the_brokers_place(link: Link) -> None:
    link.put("request", "AddPartitionsToTxn", "error", error="CONCURRENT_TRANSACTIONS")
    link.broker.may_answer.clear()
    client = link.client()
    client.send(end_txn(1), add_partitions(2), end_txn(3))
    assert link.broker.wait(1) == [end_txn(1)]
    assert client.silent()  # answers keep the order of their requests
    link.broker.may_answer.set()
    assert client.receive() == answer(end_txn(1))
    response = AddPartitionsToTxnResponse.decode(
        client.receive(), version=3, header=True, framed=True
    )
    assert response.header.correlation_id == 2
    errors = [
        (topic.name, p.partition_index, p.partition_error_code)
        for topic in response.results_by_topic_v3_and_below
        for p in topic.results_by_partition
    ]
    assert errors == [("orders", 3, 51), ("orders", 5, 51)]
    assert client.receive() == answer(end_txn(3))
    assert link.broker.received == [end_txn(1), end_txn(3)]


@pytest.mark.parametrize("which", [1, 2, 3])
def test_error_keeps_its_place_among_requests_of_one_api(link: Link, which: int) -> None:
    """The error must not overtake the answer to an earlier request."""
    link.put("request", "EndTxn", "error", error="INVALID_TXN_STATE", nth=which)
    link.put("response", "EndTxn", "report", times=None)
    link.broker.may_answer.clear()
    client = link.client()
    client.send(end_txn(1), end_txn(2), end_txn(3))
    forwarded = [end_txn(number) for number in (1, 2, 3) if number != which]
    assert link.broker.wait(1) == forwarded[:1]
    link.broker.may_answer.set()
    for number in (1, 2, 3):
        response = EndTxnResponse.decode(client.receive(), version=3, header=True, framed=True)
        assert response.header.correlation_id == number
        assert response.error_code == (48 if number == which else 0)
    assert link.broker.received == forwarded


def test_error_follows_a_late_answer(link: Link) -> None:
    """No later answer triggers the error."""
    link.put("request", "AddPartitionsToTxn", "error", error="CONCURRENT_TRANSACTIONS")
    link.broker.may_answer.clear()
    client = link.client()
    client.send(end_txn(1), add_partitions(2))
    link.broker.wait(1)
    link.broker.may_answer.set()
    assert client.receive() == answer(end_txn(1))
    response = AddPartitionsToTxnResponse.decode(
        client.receive(), version=3, header=True, framed=True
    )
    assert response.header.correlation_id == 2


def test_error_answers_a_request_while_no_other_is_pending(link: Link) -> None:
    link.put("request", "EndTxn", "error", error="INVALID_TXN_STATE", nth=2)
    client = link.client()
    client.send(end_txn(1))
    assert client.receive() == answer(end_txn(1))
    client.send(end_txn(2))
    response = EndTxnResponse.decode(client.receive(), version=3, header=True, framed=True)
    assert (response.error_code, response.header.correlation_id) == (48, 2)
    assert link.broker.received == [end_txn(1)]


def test_duplicate_sends_a_request_twice_and_answers_once(link: Link) -> None:
    link.put("request", "EndTxn", "duplicate")
    client = link.client()
    client.send(find_coordinator(1), end_txn(2), find_coordinator(3))
    answers = [client.receive() for _ in range(3)]
    assert answers == [answer(find_coordinator(1)), answer(end_txn(2)), answer(find_coordinator(3))]
    assert link.broker.wait(4) == [find_coordinator(1), end_txn(2), end_txn(2), find_coordinator(3)]
    assert client.silent()


def test_report_records_messages_and_changes_nothing(link: Link) -> None:
    report = link.put("request", "EndTxn", "report", times=None)
    drop = link.put("request", "EndTxn", "drop", nth=2)
    client = link.client()
    client.send(end_txn(1), end_txn(2))
    assert client.receive_rest() == [answer(end_txn(1))]
    client = link.client()
    client.send(end_txn(3))
    assert client.receive() == answer(end_txn(3))
    assert [e["correlation_id"] for e in report.fired] == [1, 2, 3]
    assert [e["correlation_id"] for e in drop.fired] == [2]


def test_rule_fires_from_the_nth_match_for_a_number_of_times(link: Link) -> None:
    rule = link.put("response", "EndTxn", "drop", nth=2, times=2, transactional_id="mine")
    received = []
    for number, who in enumerate(["mine", "other", "mine", "other", "mine", "mine"], 1):
        client = link.client()
        client.send(end_txn(number, who))
        received += client.receive_rest()
    assert [struct.unpack_from(">i", data, 4)[0] for data in received] == [1, 2, 4, 6]
    assert [e["correlation_id"] for e in rule.fired] == [3, 5]
    assert [e["transactional_ids"] for e in rule.fired] == [["mine"], ["mine"]]
    assert link.state["rules"] == []


def test_later_rules_do_not_count_messages_taken_by_the_first(link: Link) -> None:
    first = link.put("request", "EndTxn", "drop")
    second = link.put("request", "EndTxn", "drop", nth=2)
    received = []
    for number in range(1, 5):
        client = link.client()
        client.send(end_txn(number))
        received += client.receive_rest()
    assert received == [answer(end_txn(2)), answer(end_txn(4))]
    assert [e["correlation_id"] for e in (*first.fired, *second.fired)] == [1, 3]


@pytest.mark.parametrize(
    ("wanted", "numbers"),
    [
        ({"group": "g1"}, [1]),
        ({"transactional_id": "g1"}, [3]),
        ({"client_id": "it"}, [1, 2, 3]),
        ({"client_id": "another"}, []),
        ({"client_id": "i*"}, [1, 2, 3]),
        ({"client_id": "it-*"}, []),
        ({"group": "g1", "client_id": "another"}, []),
    ],
)
def test_matches_group_transactional_id_and_client_id(
    link: Link, wanted: dict[str, str], numbers: list[int]
) -> None:
    rule = link.put("request", "FindCoordinator", "report", times=None, **wanted)
    client = link.client()
    client.send(find_coordinator(1, "g1"), find_coordinator(2, "g2"), find_coordinator(3, "g1", 1))
    for n, key, kind in ((1, "g1", 0), (2, "g2", 0), (3, "g1", 1)):
        assert client.receive() == answer(find_coordinator(n, key, kind))
    assert [e["correlation_id"] for e in rule.fired] == numbers


@pytest.mark.parametrize(("commits", "numbers"), [(True, [1, 3]), (False, [2])])
def test_matches_commits_or_aborts(link: Link, commits: bool, numbers: list[int]) -> None:
    rule = link.put("request", "EndTxn", "report", times=None, commits=commits)
    client = link.client()
    client.send(end_txn(1), end_txn(2, committed=False), end_txn(3))
    for n in (1, 2, 3):
        assert client.receive() == answer(end_txn(n))
    assert [e["correlation_id"] for e in rule.fired] == numbers
    assert [e["commits"] for e in rule.fired] == [commits] * len(numbers)


def test_report_names_the_error_of_a_response(link: Link) -> None:
    rule = link.put("response", "EndTxn", "report", times=None)
    client = link.client()
    for number, code in ((1, 0), (2, 48)):
        response = EndTxnResponse(version=3, error_code=code)
        response.with_header(correlation_id=number)
        reply = bytes(response.encode(framed=True, header=True))
        link.broker.reply = lambda _, reply=reply: reply
        client.send(end_txn(number))
        assert client.receive() == reply
    assert [e["error"] for e in rule.fired] == ["no error", "INVALID_TXN_STATE"]


def offset_commit_response(number: int, *codes: int) -> bytes:
    """An OffsetCommit response with an error code for each partition."""
    partition = OffsetCommitResponse.OffsetCommitResponseTopic.OffsetCommitResponsePartition
    response = OffsetCommitResponse(
        version=7,
        throttle_time_ms=0,
        topics=[
            OffsetCommitResponse.OffsetCommitResponseTopic(
                version=7,
                name="orders",
                partitions=[
                    partition(version=7, partition_index=n, error_code=code)
                    for n, code in enumerate(codes)
                ],
            )
        ],
    )
    response.with_header(correlation_id=number)
    return bytes(response.encode(framed=True, header=True))


def offset_commit(number: int) -> bytes:
    request = OffsetCommitRequest(
        version=7, group_id="g", generation_id_or_member_epoch=1, member_id="m",
        group_instance_id=None, topics=[],
    )  # fmt: skip
    request.with_header(correlation_id=number, client_id="it")
    return bytes(request.encode(framed=True, header=True))


def txn_offset_commit(number: int, **partitions: int) -> bytes:
    """A TxnOffsetCommit request for the given number of partitions of each topic."""
    of_topic = TxnOffsetCommitRequest.TxnOffsetCommitRequestTopic
    of_partition = of_topic.TxnOffsetCommitRequestPartition
    request = TxnOffsetCommitRequest(
        version=3, transactional_id="t", group_id="g", producer_id=1, producer_epoch=0,
        generation_id=1, member_id="m", group_instance_id=None,
        topics=[
            of_topic(
                version=3,
                name=topic,
                partitions=[
                    of_partition(
                        version=3, partition_index=n, committed_offset=7,
                        committed_leader_epoch=-1, committed_metadata="",
                    )
                    for n in range(count)
                ],
            )
            for topic, count in partitions.items()
        ],
    )  # fmt: skip
    request.with_header(correlation_id=number, client_id="it")
    return bytes(request.encode(framed=True, header=True))


@pytest.mark.parametrize(("least", "numbers"), [(None, [1, 2, 3]), (2, [2, 3]), (3, [])])
def test_matches_minimum_number_of_committed_partitions(
    link: Link, least: int | None, numbers: list[int]
) -> None:
    rule = link.put("request", "TxnOffsetCommit", "report", times=None, partitions=least)
    client = link.client()
    for number, partitions in ((1, {"a": 1}), (2, {"a": 2}), (3, {"a": 1, "b": 1})):
        client.send(txn_offset_commit(number, **partitions))
        link.broker.wait(number)
    assert [e["correlation_id"] for e in rule.fired] == numbers


def test_partitions_match_requires_an_offset_commit() -> None:
    with pytest.raises(ValueError, match="requires OffsetCommit or TxnOffsetCommit, not EndTxn"):
        MessageMatch(direction="request", api="EndTxn", partitions=2)


@pytest.mark.parametrize(("refused", "numbers"), [(False, [1]), (True, [2]), (None, [1, 2, 3])])
def test_matches_refused_or_successful_responses(
    link: Link, refused: bool | None, numbers: list[int]
) -> None:
    rule = link.put("response", "OffsetCommit", "report", times=None, refused=refused)
    client = link.client()
    for number, codes in ((1, (0, 0)), (2, (0, 22)), (3, ())):
        reply = offset_commit_response(number, *codes)
        link.broker.reply = lambda _, reply=reply: reply
        client.send(offset_commit(number))
        assert client.receive() == reply
    assert [e["correlation_id"] for e in rule.fired] == numbers
    errors = {1: "no error", 2: "ILLEGAL_GENERATION", 3: None}
    assert [e["error"] for e in rule.fired] == [errors[n] for n in numbers]


def test_refused_match_requires_a_response() -> None:
    with pytest.raises(ValueError, match="requires a response"):
        MessageMatch(direction="request", api="OffsetCommit", refused=True)


def fetch_response(number: int, records: bytes | None) -> bytes:
    topic = FetchResponse.FetchableTopicResponse
    response = FetchResponse(
        version=12,
        responses=[
            topic(
                version=12,
                topic="orders",
                partitions=[topic.PartitionData(version=12, partition_index=0, records=records)],
            )
        ],
    )
    response.with_header(correlation_id=number)
    return bytes(response.encode(framed=True, header=True))


def fetch(number: int) -> bytes:
    request = FetchRequest(version=12, topics=[])
    request.with_header(correlation_id=number, client_id="it")
    return bytes(request.encode(framed=True, header=True))


@pytest.mark.parametrize(("records", "numbers"), [(True, [2]), (False, [1]), (None, [1, 2])])
def test_matches_fetches_that_return_records(
    link: Link, records: bool | None, numbers: list[int]
) -> None:
    rule = link.put("response", "Fetch", "report", times=None, records=records)
    client = link.client()
    builder = MemoryRecordsBuilder(2, 0, 1 << 20)
    builder.append(timestamp=1, key=None, value=b"1", headers=[])
    builder.close()
    for number, found in ((1, None), (2, bytes(builder.buffer()))):
        reply = fetch_response(number, found)
        link.broker.reply = lambda _, reply=reply: reply
        client.send(fetch(number))
        assert client.receive() == reply
    assert [e["correlation_id"] for e in rule.fired] == numbers


def test_only_responses_to_fetch_have_records() -> None:
    with pytest.raises(ValueError, match="requires a response to Fetch"):
        MessageMatch(direction="request", api="Fetch", records=True)


def produce(number: int, *, version: int, topic: dict[str, Any], acks: int = -1) -> bytes:
    partition = ProduceRequest.TopicProduceData.PartitionProduceData(
        version=version, index=0, records=b"12345678"
    )
    data = ProduceRequest.TopicProduceData(version=version, partition_data=[partition], **topic)
    request = ProduceRequest(transactional_id=None, acks=acks, timeout_ms=1, topic_data=[data])
    return frame(request, correlation_id=number, version=version)


@pytest.mark.parametrize("acks", [-1, 0, 1])
def test_report_includes_client_settings(link: Link, acks: int) -> None:
    rule = link.put("request", "Produce", "report")
    link.client().send(produce(1, version=9, topic={"name": "orders"}, acks=acks))
    (event,) = wait_until(lambda: rule.fired, what="the report", seconds=SECONDS)
    assert (event["topics"], event["settings"]) == (["orders"], {"acks": acks})


def test_matches_topic_by_its_id(link: Link) -> None:
    from uuid import uuid4

    from kafka.protocol.metadata import MetadataResponse

    ids = [uuid4() for _ in range(3)]
    rule = link.put("request", "Produce", "report", times=None, topic="orders")
    link.gate.teach({ids[0]: "orders", ids[1]: "others"})
    client = link.client()
    client.send(*(produce(n, version=13, topic={"topic_id": i}) for n, i in enumerate(ids, 1)))
    for n in (1, 2, 3):
        assert client.receive() == answer(produce(n, version=13, topic={"topic_id": ids[n - 1]}))
    assert [(e["correlation_id"], e["topics"]) for e in rule.fired] == [(1, ["orders"])]
    (unknown,) = link.events("unknown-topics")
    assert (unknown["correlation_id"], unknown["ids"]) == (3, [str(ids[2])])

    def metadata_response(data: bytes) -> bytes:
        topic = MetadataResponse.MetadataResponseTopic(version=12, name="orders", topic_id=ids[2])
        response = MetadataResponse(version=12, topics=[topic])
        response.with_header(correlation_id=correlation(data))
        return bytes(response.encode(framed=True, header=True))

    metadata_request = frame(MetadataRequest(topics=None), correlation_id=4, version=12)
    link.broker.reply = metadata_response
    client.send(metadata_request)
    assert client.receive() == metadata_response(metadata_request)
    link.broker.reply = answer
    client.send(produce(5, version=13, topic={"topic_id": ids[2]}))
    client.receive()
    assert [e["correlation_id"] for e in rule.fired] == [1, 5]


def test_report_names_topics_learned_from_metadata(link: Link) -> None:
    from uuid import uuid4

    from kafka.protocol.metadata import MetadataResponse

    topic_id = uuid4()
    rule = link.put("request", "Produce", "report", times=None)

    def metadata_response(data: bytes) -> bytes:
        topic = MetadataResponse.MetadataResponseTopic(version=12, name="orders", topic_id=topic_id)
        response = MetadataResponse(version=12, topics=[topic])
        response.with_header(correlation_id=correlation(data))
        return bytes(response.encode(framed=True, header=True))

    client = link.client()
    metadata_request = frame(MetadataRequest(topics=None), correlation_id=1, version=12)
    link.broker.reply = metadata_response
    client.send(metadata_request)
    assert client.receive() == metadata_response(metadata_request)
    link.broker.reply = answer
    client.send(produce(2, version=13, topic={"topic_id": topic_id}))
    client.receive()
    assert [event["topics"] for event in rule.fired] == [["orders"]]
    assert list(link.events("unknown-topics")) == []


def test_report_resolves_topic_ids_of_committed_offsets(link: Link) -> None:
    from uuid import uuid4

    ids = [uuid4() for _ in range(2)]
    rule = link.put("request", "OffsetCommit", "report", times=None, topic="orders")
    link.gate.teach({ids[0]: "orders"})
    of_topic = OffsetCommitRequest.OffsetCommitRequestTopic
    of_partition = of_topic.OffsetCommitRequestPartition
    topics = [
        of_topic(
            version=10,
            topic_id=topic_id,
            partitions=[
                of_partition(
                    version=10, partition_index=2, committed_offset=offset,
                    committed_leader_epoch=-1, committed_metadata="",
                )
            ],
        )
        for topic_id, offset in zip(ids, (7, 8), strict=True)
    ]  # fmt: skip
    request = OffsetCommitRequest(
        version=10, group_id="g", generation_id_or_member_epoch=1, member_id="m",
        group_instance_id=None, topics=topics,
    )  # fmt: skip
    link.client().send(frame(request, correlation_id=1, version=10))
    link.broker.wait(1)
    (event,) = rule.fired
    assert sorted(event["positions"]) == sorted([["orders", 2, 7], [str(ids[1]), 2, 8]])


def test_unanswered_request_does_not_shift_later_answers(link: Link) -> None:
    """A Produce request with acks=0 has no answer."""
    rule = link.put("response", "EndTxn", "report")
    link.broker.reply = lambda data: None if correlation(data) == 1 else answer(data)
    client = link.client()
    client.send(produce(1, version=9, topic={"name": "a"}, acks=0), end_txn(2), find_coordinator(3))
    assert client.receive_rest() == [answer(end_txn(2)), answer(find_coordinator(3))]
    assert [e["correlation_id"] for e in rule.fired] == [2]


def test_error_is_answered_after_an_unanswered_request(link: Link) -> None:
    link.put("request", "EndTxn", "error", error="INVALID_TXN_STATE")
    link.broker.reply = lambda data: None if correlation(data) == 1 else answer(data)
    client = link.client()
    client.send(produce(1, version=9, topic={"name": "a"}, acks=0), end_txn(2), find_coordinator(3))
    response = EndTxnResponse.decode(client.receive(), version=3, header=True, framed=True)
    assert (response.header.correlation_id, response.error_code) == (2, 48)
    assert client.receive() == answer(find_coordinator(3))


def test_error_answers_a_produce_request(link: Link) -> None:
    link.put("request", "Produce", "error", error="NOT_LEADER_FOR_PARTITION", topic="a")
    client = link.client()
    client.send(produce(1, version=9, topic={"name": "a"}))
    response = ProduceResponse.decode(client.receive(), version=9, header=True, framed=True)
    ((topic,),) = (response.responses,)
    assert (topic.name, [(p.index, p.error_code) for p in topic.partition_responses]) == (
        "a",
        [(0, 6)],
    )
    assert link.broker.received == []


@pytest.mark.parametrize("wanted", [{"transactional_id": "t"}, {"client_id": "it"}])
@pytest.mark.parametrize(
    "broken",
    [
        struct.pack(">ihhih", 12, 26, 3, 9, 100) + b"it",  # a client id longer than the frame
        struct.pack(">ihhi", 8, 26, 3, 9),  # only a header
        struct.pack(">ihhih", 12, 26, 999, 9, -1) + b"\0\xff",  # an unknown version
        struct.pack(">ihhih", 12, 26, 3, 9, -1) + b"\0\xff",  # a body that is too short
    ],
)
def test_undecodable_request_is_reported_and_passes(
    link: Link, broken: bytes, wanted: dict[str, str]
) -> None:
    rule = link.put("request", "EndTxn", "drop", **wanted)
    client = link.client()
    link.broker.reply = lambda data: struct.pack(">ii", 4, correlation(data))
    client.send(broken)
    assert client.receive() == struct.pack(">ii", 4, 9)
    assert link.broker.received == [broken]
    assert rule.fired == []
    (event,) = link.events("unreadable")
    assert (event["api"], event["correlation_id"], event["direction"]) == ("EndTxn", 9, "request")
    assert event["why"]


def test_undecodable_response_is_reported_and_passes(link: Link) -> None:
    link.put("response", "EndTxn", "error", error="INVALID_TXN_STATE")
    link.broker.reply = lambda data: struct.pack(">ii", 4, correlation(data))
    client = link.client()
    client.send(end_txn(1))
    assert client.receive() == struct.pack(">ii", 4, 1)
    assert [e["direction"] for e in link.events("unreadable")] == ["response"]


def test_non_kafka_bytes_are_reported_and_pass(link: Link) -> None:
    link.put("request", "EndTxn", "drop", times=None)
    link.broker.reply = lambda data: b"\0\0\0\x01!" + data
    client = link.client()
    client.send(b"\0\0\0\x01!" + end_txn(1))
    for expected in (b"\0\0\0\x01!" * 2, b"\0\0\0\x01!" + end_txn(1)):
        assert read_exactly(client.socket, len(expected)) == expected
    assert [(e["direction"], e["size"]) for e in link.events("strange")] == [
        ("request", 1),
        ("response", 1),
    ]


def test_rule_ignores_answers_to_earlier_requests(link: Link) -> None:
    link.broker.may_answer.clear()
    client = link.client()
    client.send(end_txn(1))
    link.broker.wait(1)
    rule = link.put("response", "EndTxn", "drop")
    link.broker.may_answer.set()
    assert client.receive() == answer(end_txn(1))
    client.send(find_coordinator(2), end_txn(3))
    assert client.receive_rest() == [answer(find_coordinator(2))]
    assert [e["correlation_id"] for e in rule.fired] == [3]


def test_broker_failure_disconnects_clients_and_loses_held_requests(link: Link) -> None:
    rule = link.put("request", "EndTxn", "hold")
    client = link.client()
    client.send(find_coordinator(1))
    assert client.receive() == answer(find_coordinator(1))
    client.send(end_txn(2))
    rule.wait_fired(seconds=SECONDS)
    link.broker.close()
    assert client.receive() is None
    wait_until(lambda: link.events("lost"), what="the loss to be told", seconds=SECONDS)
    assert [e["rule"] for e in link.events("lost")] == [rule.id]
    assert link.state["held"] == 0


def test_sever_disconnects_clients_and_loses_held_requests(link: Link) -> None:
    rule = link.put("request", "EndTxn", "hold")
    one, two = link.client(), link.client()
    one.send(find_coordinator(1))
    two.send(end_txn(1))
    assert one.receive() == answer(find_coordinator(1))
    rule.wait_fired(seconds=SECONDS)
    link.gate.sever(link.name)
    assert one.receive() is None
    assert two.receive() is None
    assert [e["rule"] for e in link.events("lost")] == [rule.id]
    again = link.client()
    again.send(end_txn(1))
    assert again.receive() == answer(end_txn(1))


def test_client_is_disconnected_if_the_broker_is_down(link: Link) -> None:
    link.broker.close()
    assert link.client().receive() is None
    assert link.state["connections"] == 0


def test_closed_gate_refuses_connections(link: Link) -> None:
    client = link.client()
    client.send(end_txn(1))
    client.receive()
    link.gate.close(link.name)
    assert client.receive() is None
    wait_until(lambda: _refuses(link.address), what="it to refuse", seconds=SECONDS)
    assert link.name not in link.gate.state()


def _refuses(address: str) -> bool:
    try:
        Client(address).close()
    except ConnectionRefusedError:
        return True
    except ConnectionResetError:
        return False  # it was in the backlog when the gate closed its port
    return False


def test_rejects_invalid_gate_commands(link: Link) -> None:
    way = Route(listen=link.address, upstream=link.broker.address)
    with pytest.raises(StageTrouble, match=f"{link.name} already has a gate"):
        link.gate.open(link.name, [way])
    with pytest.raises(StageTrouble, match="in use"):
        link.gate.open("another", [way])
    with pytest.raises(StageTrouble, match="another has no gate"):
        link.gate.sever("another")


def test_killed_gate_is_reported(tmp_path: Path) -> None:
    processes = Processes(new_marker(), tmp_path)
    gate = Gate(processes)
    broker = MadeUpBroker()
    try:
        gate.open("x", [Route(listen="127.0.0.1:0", upstream=broker.address)])
        rule = gate.put("x", MessageMatch(direction="request", api="EndTxn").rule("drop"))
        processes.all[0].kill("a test")
        for command in (gate.state, rule.release, lambda: rule.wait_fired(seconds=SECONDS)):
            with pytest.raises(StageTrouble, match=r"the gate cannot .*: it exited with -9"):
                command()
    finally:
        processes.kill_all("the test is over")
        broker.close()


def test_gate_exits_when_its_stdin_closes(tmp_path: Path) -> None:
    processes = Processes(new_marker(), tmp_path)
    try:
        gate = Gate(processes)
        assert gate.state() == {}
        (process,) = processes.all
        assert process.popen.stdin is not None
        process.popen.stdin.close()
        wait_until(lambda: not process.alive(), what="the gate to end", seconds=SECONDS)
        assert process.popen.wait() == 0
    finally:
        processes.kill_all("the test is over")
