"""Senders in Python, Go and JavaScript: the log matches its history, with and without transactions.

One response to each sender is lost, to cover retries.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from kafka.partitioner.default import murmur2

from onceproof.harness.history.identity import ATTEMPT_HEADER, RECORD_HEADER, digest
from onceproof.harness.history.tables import read_lines
from onceproof.harness.kafka.log_reader import Entry
from onceproof.harness.links.gate.client import Placed
from onceproof.harness.links.gate.rules import MessageMatch
from onceproof.harness.links.topology import Link
from onceproof.harness.processes.processes import Processes
from onceproof.harness.wait import Stop
from onceproof.harness.workload.control import Producers
from onceproof.harness.workload.payments import Payments
from onceproof.harness.workload.senders.aiokafka import AIOKAFKA
from onceproof.harness.workload.senders.base import Sender
from onceproof.harness.workload.senders.confluent_javascript import CONFLUENT_JAVASCRIPT
from onceproof.harness.workload.senders.franz_go import FRANZ_GO
from onceproof.harness.workload.senders.kafka_python import KAFKA_PYTHON
from onceproof.harness.workload.senders.kafkajs import BY_PARTITION, KAFKAJS
from onceproof.harness.workload.senders.librdkafka import LIBRDKAFKA
from onceproof.harness.workload.senders.sarama import SARAMA
from tests.end_to_end.catalogue import LATER
from tests.integration.staging import Staged, read_settled, send_matches

pytestmark = pytest.mark.integration

SEED = 5
SENDERS = [
    LIBRDKAFKA, KAFKA_PYTHON, AIOKAFKA,
    *(
        pytest.param(sender, marks=LATER)
        for sender in (FRANZ_GO, SARAMA, BY_PARTITION, CONFLUENT_JAVASCRIPT)
    ),
]  # fmt: skip
Rows = list[dict[str, Any]]


@pytest.fixture
def close_before_response(staging: Staged) -> Iterator[Callable[[str], list[Placed]]]:
    """Close the connection instead of the first response of an API, once on each link."""
    placed: list[Placed] = []

    def put(api: str) -> list[Placed]:
        for node in staging.stage.brokers:
            rule = MessageMatch(direction="response", api=api).rule("close-before")
            placed.append(staging.stage.gate(Link("producer", node)).put(rule))
        return placed

    yield put
    for rule in placed:
        rule.remove()


@pytest.fixture
def send_workload(staging: Staged, tmp_path: Path) -> Iterator[Callable[[Sender, Payments], Path]]:
    """Send a whole workload; return the folder of its history."""
    processes = Processes(staging.processes.marker, tmp_path)
    history = tmp_path / "history"
    history.mkdir()
    stop = Stop()

    def send(sender: Sender, workload: Payments) -> Path:
        producers = Producers(
            workload=workload, seed=SEED, bootstrap=staging.stage.bootstrap("producer"),
            processes=processes, history=history, work=tmp_path, stop=stop, sender=sender,
        )  # fmt: skip
        producers.start()
        producers.pace.hurry()
        producers.wait_finished(120)
        assert [process.how for process in processes.all] == ["exited with 0"]
        return history

    yield send
    stop.set("the test is over")
    processes.kill_all("the test is over")


def table(history: Path, name: str) -> Rows:
    return read_lines(history).tables[name].to_pylist()


def logged(staging: Staged, *topics: str) -> list[tuple[Entry, bool]]:
    """Every record in the logs, and whether it is committed."""
    return [
        (entry, committed)
        for log in read_settled(staging, *topics)
        for entry, committed in zip(log.entries, log.committed(), strict=True)
        if entry.kind == "data"
    ]


def check_places(sends: Rows, log: list[tuple[Entry, bool]]) -> None:
    """Assert that the log has exactly the acknowledged sends, at their offsets, once."""
    entries = {e.headers[ATTEMPT_HEADER].decode(): e for e, _ in log}
    assert len(entries) == len(log)
    for row in sends:
        assert row["outcome"] == "ok", row
        entry = entries.pop(row["attempt"])
        assert send_matches(row, entry)
        assert entry.headers[RECORD_HEADER].decode() == row["record"]
        assert digest(entry.key, entry.value) == row["digest"]
        assert entry.producer_id >= 0
        assert entry.key is not None
        assert entry.partition == (murmur2(entry.key) & 0x7FFF_FFFF) % 3, "as Kafka's own client"
    assert not entries


@pytest.mark.parametrize(
    "sender", [*SENDERS, pytest.param(KAFKAJS, marks=LATER)], ids=lambda sender: sender.name
)
def test_lost_response_duplicates_nothing(
    sender: Sender,
    staging: Staged,
    topic: Callable[..., str],
    close_before_response: Callable[[str], list[Placed]],
    send_workload: Callable[[Sender, Payments], Path],
) -> None:
    rules = close_before_response("Produce")
    workload = Payments(records=600, producers=1, keys=16, topic=topic(3))
    history = send_workload(sender, workload)
    assert any(rule.fired for rule in rules)
    sends = table(history, "sends")
    records = list(workload.sends(producer=0, seed=SEED))
    assert [s["record"] for s in sends] == [r.record for r in records]
    assert [s["ordinal"] for s in sends] == list(range(600))
    assert all(s["called_at"] <= s["returned_at"] for s in sends)
    log = logged(staging, workload.topic)
    check_places(sends, log)
    # Every partition is in send order.
    ordinals = {s["attempt"]: s["ordinal"] for s in sends}
    for partition in range(3):
        in_log = [ordinals[e.headers[ATTEMPT_HEADER].decode()] for e, _ in log
                 if e.partition == partition]  # fmt: skip
        assert in_log == sorted(in_log)
        assert in_log


@pytest.mark.parametrize("sender", SENDERS, ids=lambda sender: sender.name)
def test_transactions_end_as_recorded(
    sender: Sender,
    staging: Staged,
    topic: Callable[..., str],
    close_before_response: Callable[[str], list[Placed]],
    send_workload: Callable[[Sender, Payments], Path],
) -> None:
    workload = Payments(
        records=120, producers=1, keys=16, topic=topic(3), other_topic=topic(3), transaction=6,
        aborts=30,
    )  # fmt: skip
    # Since transaction version 2, a broker adds the partitions when records come.
    rules = close_before_response("Produce" if sender == FRANZ_GO else "AddPartitionsToTxn")
    history = send_workload(sender, workload)
    assert any(rule.fired for rule in rules)
    txns = {row["txn"]: row for row in table(history, "txns")}
    records = list(workload.sends(producer=0, seed=SEED))
    intended = {r.transaction: "aborted" if r.abort else "committed" for r in records}
    assert [row["outcome"] for row in txns.values()] == list(intended.values())
    assert set(intended.values()) == {"aborted", "committed"}
    for row in txns.values():
        assert (row["commit_called_at"] is None) is (row["outcome"] == "aborted")
        assert row["began_at"] <= (row["commit_called_at"] or row["ended_at"]) <= row["ended_at"]
    sends, log = table(history, "sends"), logged(staging, *workload.topics)
    assert [s["record"] for s in sends] == [r.record for r in records]
    check_places(sends, log)
    committed = {e.headers[ATTEMPT_HEADER].decode() for e, is_committed in log if is_committed}
    assert committed == {s["attempt"] for s in sends if txns[s["txn"]]["outcome"] == "committed"}
