"""Every action of the gate, on a made-up broker: what the broker gets and what the client sees."""

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
from kafka.protocol.consumer import OffsetCommitRequest, OffsetCommitResponse
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

from onceproof.harness.links.blocks import Block, free_ports, take_block
from onceproof.harness.links.gate.client import Gate, Placed
from onceproof.harness.links.gate.gated import Way
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
    exactly,
    frame,
)

_numbers = itertools.count(1)


def end_txn(
    number: int, transactional_id: str = "t", client_id: str = "it", committed: bool = True
) -> bytes:
    request = EndTxnRequest(
        transactional_id=transactional_id, producer_id=1, producer_epoch=0, committed=committed
    )
    return frame(request, correlation_id=number, version=3, client_id=client_id)


def coordinator(number: int, key: str = "g", kind: int = 0) -> bytes:
    request = FindCoordinatorRequest(key_type=kind, coordinator_keys=[key])
    return frame(request, correlation_id=number, version=4)


@pytest.fixture(scope="module")
def block() -> Iterator[Block]:
    """Addresses that no other test has, whichever process it runs in."""
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
    """A gated link to a made-up broker, and clients on it."""

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
        sought = MessageMatch(direction=direction, api=api, **more)  # type: ignore[arg-type]
        rule = sought.rule(action, times=times, error=error)  # type: ignore[arg-type]
        return self.gate.put(self.name, rule)

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
    gate.open(name, [Way(listen=f"{host}:{port}", upstream=broker.address)])
    made = Link(gate, name, f"{host}:{port}", broker)
    yield made
    made.close()
    with contextlib.suppress(StageTrouble):
        gate.close(name)
    broker.close()


def test_without_a_rule_everything_passes(link: Link) -> None:
    client = link.client()
    requests = [end_txn(1), coordinator(2), end_txn(3), b"\0\0\0\x0b" + os.urandom(11)]
    requests[3] = struct.pack(">ihhih", 11, 999, 0, 4, 1) + b"x"  # an API that nobody knows
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


def test_much_in_both_directions_to_slow_readers(link: Link) -> None:
    """More than sockets and the gate can keep: sends are partial and reading has to pause."""
    body = os.urandom(24 << 20)
    request = struct.pack(">ihhih", len(body) + 10, 999, 0, 7, -1) + body
    reply = struct.pack(">ii", len(body) + 4, 7) + body
    link.broker.reply = lambda _: reply
    client = link.client()
    for times in (1, 2):
        client.send(request)
        assert link.broker.wait(times) == [request] * times
        assert client.receive() == reply


def test_hold_a_request(link: Link) -> None:
    rule = link.put("request", "EndTxn", "hold")
    client = link.client()
    client.send(coordinator(1), end_txn(2), coordinator(3))
    assert client.receive() == answer(coordinator(1))
    event = rule.wait_fired(seconds=SECONDS)
    assert link.broker.got == [coordinator(1)]
    assert link.state["held"] == 1
    assert rule.delivered == []
    assert (event["api"], event["version"], event["correlation_id"]) == ("EndTxn", 3, 2)
    assert (event["client_id"], event["direction"]) == ("it", "request")
    assert rule.release() == 1
    assert client.receive() == answer(end_txn(2))
    assert client.receive() == answer(coordinator(3))
    assert link.broker.got == [coordinator(1), end_txn(2), coordinator(3)]
    assert [e["rule"] for e in rule.delivered] == [rule.id]
    assert link.state["held"] == 0
    assert rule.release() == 0


def test_a_held_request_is_delivered_after_its_client_has_left(link: Link) -> None:
    rule = link.put("request", "EndTxn", "hold")
    client = link.client()
    client.send(end_txn(1))
    rule.wait_fired(seconds=SECONDS)
    client.close()
    other = link.client()
    other.send(end_txn(2))  # the rule acts once
    assert other.receive() == answer(end_txn(2))
    assert link.broker.ended == 0
    rule.release()
    assert link.broker.wait(2) == [end_txn(2), end_txn(1)]
    link.broker.wait_ended()
    wait_until(lambda: link.state["connections"] == 1, what="one connection", seconds=SECONDS)
    assert len(rule.delivered) == 1


def test_a_held_request_outlives_a_client_that_resets(link: Link) -> None:
    rule = link.put("request", "EndTxn", "hold")
    client = link.client()
    client.send(coordinator(1), end_txn(2))
    rule.wait_fired(seconds=SECONDS)
    client.reset()
    rule.release()
    assert link.broker.wait(2) == [coordinator(1), end_txn(2)]
    link.broker.wait_ended()


def test_a_held_request_outlives_a_client_that_was_closed_by_another_rule(link: Link) -> None:
    rule = link.put("request", "EndTxn", "hold")
    link.put("response", "FindCoordinator", "close-before")
    link.broker.may_answer.clear()
    client = link.client()
    client.send(coordinator(1), end_txn(2))
    rule.wait_fired(seconds=SECONDS)
    link.broker.may_answer.set()
    assert client.receive() is None
    assert link.broker.ended == 0
    rule.release()
    assert link.broker.wait(2) == [coordinator(1), end_txn(2)]
    link.broker.wait_ended()


def test_what_comes_behind_the_end_of_a_connection_is_not_held(link: Link) -> None:
    link.put("request", "EndTxn", "close-before")
    rule = link.put("request", "FindCoordinator", "hold")
    client = link.client()
    client.send(end_txn(1), coordinator(2))
    assert client.receive() is None
    assert link.state["held"] == 0
    assert len(rule.lost) == len(rule.fired)
    link.broker.wait_ended()
    assert link.broker.got == []


def test_a_client_that_has_no_more_to_send_still_gets_its_answers(link: Link) -> None:
    link.broker.may_answer.clear()
    client = link.client()
    client.send(coordinator(1), end_txn(2))
    client.socket.shutdown(socket.SHUT_WR)
    link.broker.wait(1)
    link.broker.may_answer.set()
    assert client.receive() == answer(coordinator(1))
    assert client.receive() == answer(end_txn(2))
    assert client.receive() is None


def test_a_held_response_whose_client_is_gone_is_lost(link: Link) -> None:
    rule = link.put("response", "EndTxn", "hold")
    client = link.client()
    client.send(end_txn(1))
    rule.wait_fired(seconds=SECONDS)
    client.reset()
    link.broker.wait_ended()  # so the gate has seen it
    assert rule.release() == 1
    wait_until(lambda: rule.lost, what="the loss to be told", seconds=SECONDS)
    assert rule.delivered == []
    wait_until(lambda: link.state["connections"] == 0, what="no connection", seconds=SECONDS)


def test_hold_a_response(link: Link) -> None:
    rule = link.put("response", "EndTxn", "hold")
    client = link.client()
    client.send(end_txn(1), coordinator(2))
    rule.wait_fired(seconds=SECONDS)
    assert link.broker.wait(2) == [end_txn(1), coordinator(2)]
    assert client.silent()
    rule.release()
    assert client.receive() == answer(end_txn(1))
    assert client.receive() == answer(coordinator(2))


def test_removing_a_rule_releases(link: Link) -> None:
    rule = link.put("request", "EndTxn", "hold", times=None)
    client = link.client()
    client.send(end_txn(1))
    rule.wait_fired(seconds=SECONDS)
    assert link.state["rules"] == [rule.id]
    assert rule.remove() == 1
    assert client.receive() == answer(end_txn(1))
    client.send(end_txn(2))
    assert client.receive() == answer(end_txn(2))
    assert link.state["rules"] == []


@pytest.mark.parametrize("direction", ["request", "response"])
def test_drop(link: Link, direction: str) -> None:
    """With it is lost what comes behind it, whatever that is, and nothing that came before."""
    rule = link.put(direction, "EndTxn", "drop")
    client = link.client()
    asked = [coordinator(1), end_txn(2), coordinator(3), end_txn(4)]
    client.send(*asked)
    assert client.receive() == answer(coordinator(1))
    client.send(coordinator(5))
    assert client.rest() == []
    assert link.broker.got == (asked[:1] if direction == "request" else [*asked, coordinator(5)])
    assert [e["correlation_id"] for e in rule.fired] == [2]
    # Only that connection's bytes are lost.
    client = link.client()
    client.send(end_txn(6), coordinator(7))
    assert client.rest() == [answer(end_txn(6)), answer(coordinator(7))]


def test_answers_to_what_came_before_a_lost_request_arrive(link: Link) -> None:
    link.broker.may_answer.clear()
    rule = link.put("request", "EndTxn", "drop")
    client = link.client()
    client.send(coordinator(1), end_txn(2))
    wait_until(lambda: rule.fired, what="the loss", seconds=SECONDS)
    link.broker.may_answer.set()
    assert client.rest() == [answer(coordinator(1))]


@pytest.mark.parametrize("direction", ["request", "response"])
def test_behind_a_lost_message_no_rule_counts(link: Link, direction: str) -> None:
    lost = link.put(direction, "EndTxn", "drop")
    behind = link.put(direction, "FindCoordinator", "close-before")
    client = link.client()
    client.send(end_txn(1), coordinator(2))
    assert client.rest() == []
    assert [len(rule.fired) for rule in (lost, behind)] == [1, 0]
    client = link.client()
    client.send(coordinator(3))
    assert client.receive() is None
    assert [e["correlation_id"] for e in behind.fired] == [3]


def test_a_client_that_leaves_a_lost_connection_takes_the_brokers_side_along(link: Link) -> None:
    link.put("request", "EndTxn", "drop")
    client = link.client()
    client.send(coordinator(1), end_txn(2), coordinator(3))
    assert client.receive() == answer(coordinator(1))
    client.close()
    link.broker.wait_ended()
    assert link.broker.got == [coordinator(1)]
    assert link.state["connections"] == 0


@pytest.mark.parametrize("action", ["close-before", "close-after"])
def test_close_at_a_request(link: Link, action: str) -> None:
    rule = link.put("request", "EndTxn", action)
    client = link.client()
    client.send(coordinator(1))
    assert client.receive() == answer(coordinator(1))
    client.send(end_txn(2), coordinator(3))
    assert client.receive() is None
    link.broker.wait_ended()
    expected = [coordinator(1)] + ([end_txn(2)] if action == "close-after" else [])
    assert link.broker.got == expected
    assert len(rule.fired) == 1
    wait_until(lambda: link.state["connections"] == 0, what="no connection", seconds=SECONDS)


@pytest.mark.parametrize("action", ["close-before", "close-after"])
def test_close_at_a_response(link: Link, action: str) -> None:
    rule = link.put("response", "EndTxn", action)
    client = link.client()
    client.send(coordinator(1), end_txn(2), coordinator(3))
    assert client.receive() == answer(coordinator(1))
    if action == "close-after":
        assert client.receive() == answer(end_txn(2))
    assert client.receive() is None
    link.broker.wait_ended()
    assert link.broker.got[:2] == [coordinator(1), end_txn(2)]
    assert len(rule.fired) == 1
    wait_until(lambda: link.state["connections"] == 0, what="no connection", seconds=SECONDS)


def test_an_error_in_a_response(link: Link) -> None:
    link.put("response", "EndTxn", "error", error="COORDINATOR_NOT_AVAILABLE")
    client = link.client()
    client.send(end_txn(1), end_txn(2))
    got = EndTxnResponse.decode(client.receive(), version=3, header=True, framed=True)
    assert (got.error_code, got.header.correlation_id) == (15, 1)
    assert client.receive() == answer(end_txn(2))
    assert link.broker.wait(2) == [end_txn(1), end_txn(2)]


def partitions(number: int) -> bytes:
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


def test_an_error_for_a_request_that_is_not_passed_on(link: Link) -> None:
    link.put("request", "AddPartitionsToTxn", "error", error="CONCURRENT_TRANSACTIONS")
    link.broker.may_answer.clear()
    client = link.client()
    client.send(end_txn(1), partitions(2), end_txn(3))
    assert link.broker.wait(1) == [end_txn(1)]
    assert client.silent()  # in the order in which it was asked
    link.broker.may_answer.set()
    assert client.receive() == answer(end_txn(1))
    got = AddPartitionsToTxnResponse.decode(client.receive(), version=3, header=True, framed=True)
    assert got.header.correlation_id == 2
    told = [
        (topic.name, p.partition_index, p.partition_error_code)
        for topic in got.results_by_topic_v3_and_below
        for p in topic.results_by_partition
    ]
    assert told == [("orders", 3, 51), ("orders", 5, 51)]
    assert client.receive() == answer(end_txn(3))
    assert link.broker.got == [end_txn(1), end_txn(3)]


@pytest.mark.parametrize("which", [1, 2, 3])
def test_an_error_among_requests_of_its_own_kind(link: Link, which: int) -> None:
    """Each of them is read whole: the answer to the one before must not be overtaken."""
    link.put("request", "EndTxn", "error", error="INVALID_TXN_STATE", nth=which)
    link.put("response", "EndTxn", "report", times=None)
    link.broker.may_answer.clear()
    client = link.client()
    client.send(end_txn(1), end_txn(2), end_txn(3))
    asked = [end_txn(number) for number in (1, 2, 3) if number != which]
    assert link.broker.wait(1) == asked[:1]
    link.broker.may_answer.set()
    for number in (1, 2, 3):
        got = EndTxnResponse.decode(client.receive(), version=3, header=True, framed=True)
        assert got.header.correlation_id == number
        assert got.error_code == (48 if number == which else 0)
    assert link.broker.got == asked


def test_an_error_after_an_answer_that_is_late(link: Link) -> None:
    """Nothing else comes that could take it along."""
    link.put("request", "AddPartitionsToTxn", "error", error="CONCURRENT_TRANSACTIONS")
    link.broker.may_answer.clear()
    client = link.client()
    client.send(end_txn(1), partitions(2))
    link.broker.wait(1)
    link.broker.may_answer.set()
    assert client.receive() == answer(end_txn(1))
    got = AddPartitionsToTxnResponse.decode(client.receive(), version=3, header=True, framed=True)
    assert got.header.correlation_id == 2


def test_an_error_for_the_only_request(link: Link) -> None:
    link.put("request", "EndTxn", "error", error="INVALID_TXN_STATE", nth=2)
    client = link.client()
    client.send(end_txn(1))
    assert client.receive() == answer(end_txn(1))
    client.send(end_txn(2))
    got = EndTxnResponse.decode(client.receive(), version=3, header=True, framed=True)
    assert (got.error_code, got.header.correlation_id) == (48, 2)
    assert link.broker.got == [end_txn(1)]


def test_a_duplicated_request(link: Link) -> None:
    link.put("request", "EndTxn", "duplicate")
    client = link.client()
    client.send(coordinator(1), end_txn(2), coordinator(3))
    answers = [client.receive() for _ in range(3)]
    assert answers == [answer(coordinator(1)), answer(end_txn(2)), answer(coordinator(3))]
    assert link.broker.wait(4) == [coordinator(1), end_txn(2), end_txn(2), coordinator(3)]
    assert client.silent()


def test_a_report_is_told_and_changes_nothing(link: Link) -> None:
    report = link.put("request", "EndTxn", "report", times=None)
    drop = link.put("request", "EndTxn", "drop", nth=2)
    client = link.client()
    client.send(end_txn(1), end_txn(2))
    assert client.rest() == [answer(end_txn(1))]
    client = link.client()
    client.send(end_txn(3))
    assert client.receive() == answer(end_txn(3))
    assert [e["correlation_id"] for e in report.fired] == [1, 2, 3]
    assert [e["correlation_id"] for e in drop.fired] == [2]


def test_the_nth_match_and_how_often(link: Link) -> None:
    rule = link.put("response", "EndTxn", "drop", nth=2, times=2, transactional_id="mine")
    received = []
    for number, who in enumerate(["mine", "other", "mine", "other", "mine", "mine"], 1):
        client = link.client()
        client.send(end_txn(number, who))
        received += client.rest()
    assert [struct.unpack_from(">i", data, 4)[0] for data in received] == [1, 2, 4, 6]
    assert [e["correlation_id"] for e in rule.fired] == [3, 5]
    assert [e["transactional_ids"] for e in rule.fired] == [["mine"], ["mine"]]
    assert link.state["rules"] == []


def test_the_first_rule_takes_it_and_later_ones_do_not_count_it(link: Link) -> None:
    first = link.put("request", "EndTxn", "drop")
    second = link.put("request", "EndTxn", "drop", nth=2)
    received = []
    for number in range(1, 5):
        client = link.client()
        client.send(end_txn(number))
        received += client.rest()
    assert received == [answer(end_txn(2)), answer(end_txn(4))]
    assert [e["correlation_id"] for e in (*first.fired, *second.fired)] == [1, 3]


@pytest.mark.parametrize(
    ("wanted", "numbers"),
    [
        ({"group": "g1"}, [1]),
        ({"transactional_id": "g1"}, [3]),
        ({"client_id": "it"}, [1, 2, 3]),
        ({"client_id": "another"}, []),
        ({"group": "g1", "client_id": "another"}, []),
    ],
)
def test_what_is_matched(link: Link, wanted: dict[str, str], numbers: list[int]) -> None:
    rule = link.put("request", "FindCoordinator", "report", times=None, **wanted)
    client = link.client()
    client.send(coordinator(1, "g1"), coordinator(2, "g2"), coordinator(3, "g1", 1))
    for n, key, kind in ((1, "g1", 0), (2, "g2", 0), (3, "g1", 1)):
        assert client.receive() == answer(coordinator(n, key, kind))
    assert [e["correlation_id"] for e in rule.fired] == numbers


@pytest.mark.parametrize(("commits", "numbers"), [(True, [1, 3]), (False, [2])])
def test_a_commit_is_told_from_an_abort(link: Link, commits: bool, numbers: list[int]) -> None:
    rule = link.put("request", "EndTxn", "report", times=None, commits=commits)
    client = link.client()
    client.send(end_txn(1), end_txn(2, committed=False), end_txn(3))
    for n in (1, 2, 3):
        assert client.receive() == answer(end_txn(n))
    assert [e["correlation_id"] for e in rule.fired] == numbers
    assert [e["commits"] for e in rule.fired] == [commits] * len(numbers)


def test_the_error_of_an_answer_is_told(link: Link) -> None:
    told = link.put("response", "EndTxn", "report", times=None)
    client = link.client()
    for number, code in ((1, 0), (2, 48)):
        made = EndTxnResponse(version=3, error_code=code)
        made.with_header(correlation_id=number)
        reply = bytes(made.encode(framed=True, header=True))
        link.broker.reply = lambda _, reply=reply: reply
        client.send(end_txn(number))
        assert client.receive() == reply
    assert [e["error"] for e in told.fired] == ["no error", "INVALID_TXN_STATE"]


def committed(number: int, *codes: int) -> bytes:
    """The answer to the commit of a group's positions, with a code for each partition."""
    partition = OffsetCommitResponse.OffsetCommitResponseTopic.OffsetCommitResponsePartition
    made = OffsetCommitResponse(
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
    made.with_header(correlation_id=number)
    return bytes(made.encode(framed=True, header=True))


def offset_commit(number: int) -> bytes:
    made = OffsetCommitRequest(
        version=7, group_id="g", generation_id_or_member_epoch=1, member_id="m",
        group_instance_id=None, topics=[],
    )  # fmt: skip
    made.with_header(correlation_id=number, client_id="it")
    return bytes(made.encode(framed=True, header=True))


def in_transaction(number: int, **partitions: int) -> bytes:
    """Positions in a transaction: of each topic the first so many partitions."""
    of_topic = TxnOffsetCommitRequest.TxnOffsetCommitRequestTopic
    of_partition = of_topic.TxnOffsetCommitRequestPartition
    made = TxnOffsetCommitRequest(
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
    made.with_header(correlation_id=number, client_id="it")
    return bytes(made.encode(framed=True, header=True))


@pytest.mark.parametrize(("least", "numbers"), [(None, [1, 2, 3]), (2, [2, 3]), (3, [])])
def test_of_how_many_partitions_positions_are(
    link: Link, least: int | None, numbers: list[int]
) -> None:
    rule = link.put("request", "TxnOffsetCommit", "report", times=None, partitions=least)
    client = link.client()
    for number, partitions in ((1, {"a": 1}), (2, {"a": 2}), (3, {"a": 1, "b": 1})):
        client.send(in_transaction(number, **partitions))
        link.broker.wait(number)
    assert [e["correlation_id"] for e in rule.fired] == numbers


def test_only_what_commits_them_has_positions() -> None:
    with pytest.raises(ValueError, match="requires OffsetCommit or TxnOffsetCommit, not EndTxn"):
        MessageMatch(direction="request", api="EndTxn", partitions=2)


@pytest.mark.parametrize(("refused", "numbers"), [(False, [1]), (True, [2]), (None, [1, 2, 3])])
def test_a_refusal_is_told_from_what_was_done(
    link: Link, refused: bool | None, numbers: list[int]
) -> None:
    rule = link.put("response", "OffsetCommit", "report", times=None, refused=refused)
    client = link.client()
    for number, codes in ((1, (0, 0)), (2, (0, 22)), (3, ())):
        reply = committed(number, *codes)
        link.broker.reply = lambda _, reply=reply: reply
        client.send(offset_commit(number))
        assert client.receive() == reply
    assert [e["correlation_id"] for e in rule.fired] == numbers
    told = {1: "no error", 2: "ILLEGAL_GENERATION", 3: None}
    assert [e["error"] for e in rule.fired] == [told[n] for n in numbers]


def test_a_request_cannot_be_a_refusal() -> None:
    with pytest.raises(ValueError, match="requires a response"):
        MessageMatch(direction="request", api="OffsetCommit", refused=True)


def produce(number: int, *, version: int, topic: dict[str, Any], acks: int = -1) -> bytes:
    partition = ProduceRequest.TopicProduceData.PartitionProduceData(
        version=version, index=0, records=b"12345678"
    )
    data = ProduceRequest.TopicProduceData(version=version, partition_data=[partition], **topic)
    request = ProduceRequest(transactional_id=None, acks=acks, timeout_ms=1, topic_data=[data])
    return frame(request, correlation_id=number, version=version)


@pytest.mark.parametrize("acks", [-1, 0, 1])
def test_a_report_tells_how_the_client_is_set(link: Link, acks: int) -> None:
    rule = link.put("request", "Produce", "report")
    link.client().send(produce(1, version=9, topic={"name": "orders"}, acks=acks))
    (event,) = wait_until(lambda: rule.fired, what="the report", seconds=SECONDS)
    assert (event["topics"], event["settings"]) == (["orders"], {"acks": acks})


def test_a_topic_by_its_id(link: Link) -> None:
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

    def tells(data: bytes) -> bytes:
        topic = MetadataResponse.MetadataResponseTopic(version=12, name="orders", topic_id=ids[2])
        made = MetadataResponse(version=12, topics=[topic])
        made.with_header(correlation_id=correlation(data))
        return bytes(made.encode(framed=True, header=True))

    ask = frame(MetadataRequest(topics=None), correlation_id=4, version=12)
    link.broker.reply = tells
    client.send(ask)
    assert client.receive() == tells(ask)
    link.broker.reply = answer
    client.send(produce(5, version=13, topic={"topic_id": ids[2]}))
    client.receive()
    assert [e["correlation_id"] for e in rule.fired] == [1, 5]


def test_a_report_names_topics_that_metadata_have_named(link: Link) -> None:
    from uuid import uuid4

    from kafka.protocol.metadata import MetadataResponse

    one = uuid4()
    rule = link.put("request", "Produce", "report", times=None)

    def tells(data: bytes) -> bytes:
        topic = MetadataResponse.MetadataResponseTopic(version=12, name="orders", topic_id=one)
        made = MetadataResponse(version=12, topics=[topic])
        made.with_header(correlation_id=correlation(data))
        return bytes(made.encode(framed=True, header=True))

    client = link.client()
    ask = frame(MetadataRequest(topics=None), correlation_id=1, version=12)
    link.broker.reply = tells
    client.send(ask)
    assert client.receive() == tells(ask)
    link.broker.reply = answer
    client.send(produce(2, version=13, topic={"topic_id": one}))
    client.receive()
    assert [event["topics"] for event in rule.fired] == [["orders"]]
    assert list(link.events("unknown-topics")) == []


def test_positions_of_a_topic_by_its_id(link: Link) -> None:
    from uuid import uuid4

    ids = [uuid4() for _ in range(2)]
    rule = link.put("request", "OffsetCommit", "report", times=None, topic="orders")
    link.gate.teach({ids[0]: "orders"})
    of_topic = OffsetCommitRequest.OffsetCommitRequestTopic
    of_partition = of_topic.OffsetCommitRequestPartition
    topics = [
        of_topic(
            version=10,
            topic_id=one,
            partitions=[
                of_partition(
                    version=10, partition_index=2, committed_offset=offset,
                    committed_leader_epoch=-1, committed_metadata="",
                )
            ],
        )
        for one, offset in zip(ids, (7, 8), strict=True)
    ]  # fmt: skip
    made = OffsetCommitRequest(
        version=10, group_id="g", generation_id_or_member_epoch=1, member_id="m",
        group_instance_id=None, topics=topics,
    )  # fmt: skip
    link.client().send(frame(made, correlation_id=1, version=10))
    link.broker.wait(1)
    (event,) = rule.fired
    assert sorted(event["positions"]) == sorted([["orders", 2, 7], [str(ids[1]), 2, 8]])


def test_a_request_that_is_never_answered_is_passed_over(link: Link) -> None:
    """Produce with acks=0; the answer after it must not be taken for its own."""
    rule = link.put("response", "EndTxn", "report")
    link.broker.reply = lambda data: None if correlation(data) == 1 else answer(data)
    client = link.client()
    client.send(produce(1, version=9, topic={"name": "a"}, acks=0), end_txn(2), coordinator(3))
    assert client.rest() == [answer(end_txn(2)), answer(coordinator(3))]
    assert [e["correlation_id"] for e in rule.fired] == [2]


def test_our_answer_does_not_get_lost_behind_one_that_never_comes(link: Link) -> None:
    link.put("request", "EndTxn", "error", error="INVALID_TXN_STATE")
    link.broker.reply = lambda data: None if correlation(data) == 1 else answer(data)
    client = link.client()
    client.send(produce(1, version=9, topic={"name": "a"}, acks=0), end_txn(2), coordinator(3))
    got = EndTxnResponse.decode(client.receive(), version=3, header=True, framed=True)
    assert (got.header.correlation_id, got.error_code) == (2, 48)
    assert client.receive() == answer(coordinator(3))


def test_an_error_for_produce(link: Link) -> None:
    link.put("request", "Produce", "error", error="NOT_LEADER_FOR_PARTITION", topic="a")
    client = link.client()
    client.send(produce(1, version=9, topic={"name": "a"}))
    got = ProduceResponse.decode(client.receive(), version=9, header=True, framed=True)
    ((topic,),) = (got.responses,)
    assert (topic.name, [(p.index, p.error_code) for p in topic.partition_responses]) == (
        "a",
        [(0, 6)],
    )
    assert link.broker.got == []


@pytest.mark.parametrize("wanted", [{"transactional_id": "t"}, {"client_id": "it"}])
@pytest.mark.parametrize(
    "broken",
    [
        struct.pack(">ihhih", 12, 26, 3, 9, 100) + b"it",  # a client id that is longer than all
        struct.pack(">ihhi", 8, 26, 3, 9),  # a head and nothing else
        struct.pack(">ihhih", 12, 26, 999, 9, -1) + b"\0\xff",  # a version that nobody knows
        struct.pack(">ihhih", 12, 26, 3, 9, -1) + b"\0\xff",  # a body that is too short
    ],
)
def test_what_cannot_be_decoded_is_told_and_passes(
    link: Link, broken: bytes, wanted: dict[str, str]
) -> None:
    rule = link.put("request", "EndTxn", "drop", **wanted)
    client = link.client()
    link.broker.reply = lambda data: struct.pack(">ii", 4, correlation(data))
    client.send(broken)
    assert client.receive() == struct.pack(">ii", 4, 9)
    assert link.broker.got == [broken]
    assert rule.fired == []
    (event,) = link.events("unreadable")
    assert (event["api"], event["correlation_id"], event["direction"]) == ("EndTxn", 9, "request")
    assert event["why"]


def test_an_answer_that_cannot_be_changed_passes(link: Link) -> None:
    link.put("response", "EndTxn", "error", error="INVALID_TXN_STATE")
    link.broker.reply = lambda data: struct.pack(">ii", 4, correlation(data))
    client = link.client()
    client.send(end_txn(1))
    assert client.receive() == struct.pack(">ii", 4, 1)
    assert [e["direction"] for e in link.events("unreadable")] == ["response"]


def test_what_is_not_kafka_passes(link: Link) -> None:
    link.put("request", "EndTxn", "drop", times=None)
    link.broker.reply = lambda data: b"\0\0\0\x01!" + data
    client = link.client()
    client.send(b"\0\0\0\x01!" + end_txn(1))
    for expected in (b"\0\0\0\x01!" * 2, b"\0\0\0\x01!" + end_txn(1)):
        assert exactly(client.socket, len(expected)) == expected
    assert [(e["direction"], e["size"]) for e in link.events("strange")] == [
        ("request", 1),
        ("response", 1),
    ]


def test_a_rule_concerns_what_is_asked_after_it(link: Link) -> None:
    link.broker.may_answer.clear()
    client = link.client()
    client.send(end_txn(1))
    link.broker.wait(1)
    rule = link.put("response", "EndTxn", "drop")
    link.broker.may_answer.set()
    assert client.receive() == answer(end_txn(1))
    client.send(coordinator(2), end_txn(3))
    assert client.rest() == [answer(coordinator(2))]
    assert [e["correlation_id"] for e in rule.fired] == [3]


def test_a_broker_that_dies_takes_its_clients_along(link: Link) -> None:
    rule = link.put("request", "EndTxn", "hold")
    client = link.client()
    client.send(coordinator(1))
    assert client.receive() == answer(coordinator(1))
    client.send(end_txn(2))
    rule.wait_fired(seconds=SECONDS)
    link.broker.close()
    assert client.receive() is None
    wait_until(lambda: link.events("lost"), what="the loss to be told", seconds=SECONDS)
    assert [e["rule"] for e in link.events("lost")] == [rule.id]
    assert link.state["held"] == 0


def test_severing(link: Link) -> None:
    rule = link.put("request", "EndTxn", "hold")
    one, two = link.client(), link.client()
    one.send(coordinator(1))
    two.send(end_txn(1))
    assert one.receive() == answer(coordinator(1))
    rule.wait_fired(seconds=SECONDS)
    link.gate.sever(link.name)
    assert one.receive() is None
    assert two.receive() is None
    assert [e["rule"] for e in link.events("lost")] == [rule.id]
    again = link.client()
    again.send(end_txn(1))
    assert again.receive() == answer(end_txn(1))


def test_a_broker_that_is_not_there(link: Link) -> None:
    link.broker.close()
    assert link.client().receive() is None
    assert link.state["connections"] == 0


def test_a_gate_that_is_closed_refuses(link: Link) -> None:
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
        return False  # it was about to be taken when the gate let go of its port
    return False


def test_orders_that_cannot_be_obeyed(link: Link) -> None:
    way = Way(listen=link.address, upstream=link.broker.address)
    with pytest.raises(StageTrouble, match=f"{link.name} already has a gate"):
        link.gate.open(link.name, [way])
    with pytest.raises(StageTrouble, match="in use"):
        link.gate.open("another", [way])
    with pytest.raises(StageTrouble, match="another has no gate"):
        link.gate.sever("another")


def test_a_gate_that_is_gone_is_trouble(tmp_path: Path) -> None:
    processes = Processes(new_marker(), tmp_path)
    gate = Gate(processes)
    broker = MadeUpBroker()
    try:
        gate.open("x", [Way(listen="127.0.0.1:0", upstream=broker.address)])
        rule = gate.put("x", MessageMatch(direction="request", api="EndTxn").rule("drop"))
        processes.all[0].kill("a test")
        for order in (gate.state, rule.release, lambda: rule.wait_fired(seconds=SECONDS)):
            with pytest.raises(StageTrouble, match=r"the gate cannot .*: it exited with -9"):
                order()
    finally:
        processes.kill_all("the test is over")
        broker.close()


def test_the_gate_ends_with_the_harness(tmp_path: Path) -> None:
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
