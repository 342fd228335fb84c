"""A Java member of a consumer group whose offsets a broker refuses."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicPartition

from onceproof.harness.context.run_context import addresses, open_reader
from onceproof.harness.history.identity import RECORD_HEADER, digest
from onceproof.harness.history.tables import read_lines
from onceproof.harness.java.programs import JavaPrograms, compiled
from onceproof.harness.kafka.metadata import ClusterView
from onceproof.harness.links.gate.rules import MessageMatch
from onceproof.harness.links.topology import AUDITOR, Link
from onceproof.harness.processes.processes import Process
from onceproof.harness.tools.setup import StageTools
from onceproof.harness.workload.payments import EFFECT_COLUMNS, Payment, Payments, payments_of
from tests.integration.staging import Staged, eventually, none_fired_twice, read_settled

pytestmark = pytest.mark.integration

StartMember = Callable[..., Process]
Rows = list[dict[str, Any]]

PAYMENTS = list(payments_of(Payments(records=400, producers=1), producer=0, seed=5))


@pytest.fixture
def start_member(staging: Staged, tools: StageTools, tmp_path: Path) -> Iterator[StartMember]:
    programs: JavaPrograms = compiled(tools.java, tools.kafka_libs)
    started: list[Process] = []

    def make(name: str, topic: str, sink: str, **more: Any) -> Process:
        (tmp_path / "history").mkdir(exist_ok=True)
        task = tmp_path / f"{name}.json"
        task.write_text(
            json.dumps(
                {
                    "name": name,
                    "bootstrap": staging.stage.bootstrap("pipeline"),
                    "group": f"group-of-{topic}",
                    "topic": topic,
                    "sink": sink,
                    "history": str(tmp_path / "history"),
                    "batch": 20,
                    **more,
                }
            )
        )
        started.append(staging.processes.start(name, programs.command("Member", task), pipes=True))
        return started[-1]

    yield make
    for process in started:
        process.kill("the test is over")


def send(staging: Staged, topic: str, payments: list[Payment]) -> None:
    producer = Producer({"bootstrap.servers": staging.stage.bootstrap(AUDITOR), "log_level": 0})
    for payment in payments:
        producer.produce(
            topic, payment.value, payment.key, headers=[(RECORD_HEADER, payment.record.encode())]
        )
    assert producer.flush(60) == 0


def effects(staging: Staged, sink: str) -> list[tuple[str, str]]:
    """Record and digest of each committed effect."""
    with open_reader(staging.stage, ClusterView(addresses(staging.stage))) as reader:
        found = [
            entry
            for log in reader.read_topic(sink)
            for entry, committed in zip(log.entries, log.committed(), strict=True)
            if committed and entry.kind == "data"
        ]
    return sorted(
        (
            entry.headers[RECORD_HEADER].decode(),
            digest(*(json.loads(entry.value or b"")[column] for column in EFFECT_COLUMNS)),
        )
        for entry in found
    )


def expected(payments: list[Payment]) -> list[tuple[str, str]]:
    return sorted((payment.record, payment.effect_digest) for payment in payments)


COORDINATOR_ERRORS = {
    KafkaError.NOT_COORDINATOR,
    KafkaError.COORDINATOR_NOT_AVAILABLE,
    KafkaError.COORDINATOR_LOAD_IN_PROGRESS,
}


def positions(staging: Staged, topic: str) -> dict[int, int]:
    """The group's committed offsets; empty while its coordinator moves."""
    bootstrap = staging.stage.bootstrap(AUDITOR)
    group = f"group-of-{topic}"
    member = Consumer({"bootstrap.servers": bootstrap, "group.id": group, "log_level": 0})
    try:
        found = member.committed([TopicPartition(topic, p) for p in range(3)], 60)
    except KafkaException as failure:
        if failure.args[0].code() not in COORDINATOR_ERRORS:
            raise
        return {}
    finally:
        member.close()
    return {partition_offset.partition: partition_offset.offset for partition_offset in found}


def order(process: Process, word: str) -> None:
    assert process.popen.stdin is not None
    process.popen.stdin.write(word.encode() + b"\n")
    process.popen.stdin.flush()


def test_refused_batch_and_rebalance_keep_effects_exactly_once(
    staging: Staged, topic: Callable[..., str], start_member: StartMember, tmp_path: Path
) -> None:
    """One member whose offsets are refused once, then two members."""
    source, sink = topic(3), topic(3)
    refused = [
        staging.stage.gate(Link("pipeline", node)).put(
            MessageMatch(
                direction="response", api="TxnOffsetCommit", group=f"group-of-{source}", nth=2
            ).rule("error", error="ILLEGAL_GENERATION")
        )
        for node in staging.stage.brokers
    ]  # fmt: skip
    half = len(PAYMENTS) // 2
    send(staging, source, PAYMENTS[:half])
    first = start_member("member-0", source, sink)
    eventually(
        lambda: len(effects(staging, sink)) >= half,
        "the first half",
        lambda: (len(effects(staging, sink)), first.tail()),
    )
    assert effects(staging, sink) == expected(PAYMENTS[:half])
    none_fired_twice(refused)
    for rule in refused:
        rule.remove()

    def assigned() -> int:
        return (tmp_path / "history" / "member-0.jsonl").read_text().count('"t":"assignments"')

    before = assigned()
    second = start_member("member-1", source, sink)
    eventually(lambda: assigned() >= before + 3, "member-0 to lose its partitions", second.tail)
    send(staging, source, PAYMENTS[half:])
    eventually(
        lambda: len(effects(staging, sink)) >= len(PAYMENTS),
        "the second half",
        lambda: (len(effects(staging, sink)), first.tail(), second.tail()),
    )
    order(first, "end")
    assert second.popen.stdin is not None
    second.popen.stdin.close()
    for process in (first, second):
        eventually(lambda process=process: not process.alive(), "its end", process.tail)
        assert process.popen.wait(60) == 0
    assert effects(staging, sink) == expected(PAYMENTS)

    tables = read_lines(tmp_path / "history").tables
    txns: Rows = tables["txns"].to_pylist()
    assert {row["transactional_id"] for row in txns} == {
        f"group-of-{source}-member-{n}" for n in (0, 1)
    }
    aborted = [row for row in txns if row["outcome"] == "aborted"]
    # At least the refused one; on a busy machine there may be others.
    assert aborted
    assert all(row["error"] for row in aborted)
    assert {row["outcome"] for row in txns} == {"committed", "aborted"}
    staged: Rows = tables["staged"].to_pylist()
    assert {row["txn"] for row in staged} == {row["txn"] for row in txns}
    reported: dict[int, int] = {}
    for row in tables["positions"].to_pylist():
        assert (row["owner"], row["role"]) == (f"group-of-{source}", "advisory")
        reported[row["partition"]] = max(row["offset"], reported.get(row["partition"], 0))
    eventually(lambda: positions(staging, source) == reported, "its positions", lambda: reported)
    assignments: Rows = tables["assignments"].to_pylist()
    assert all(row["from_at"] <= row["until_at"] for row in assignments)
    assert {row["reader"] for row in assignments} == {"member-0", "member-1"}
    # The refused batch is read again from the committed offset: 0 or behind the first batch.
    of_first = [row for row in assignments if row["reader"] == "member-0"]
    assert len({row["session"] for row in of_first}) >= 3


def test_refused_batch_is_lost_without_rewind(
    staging: Staged, topic: Callable[..., str], start_member: StartMember
) -> None:
    """Without `rewind` the member continues, and its next commit skips the aborted batch."""
    source, sink = topic(3), topic(3)
    refused = [
        staging.stage.gate(Link("pipeline", node)).put(
            MessageMatch(
                direction="response", api="TxnOffsetCommit", group=f"group-of-{source}", nth=2
            ).rule("error", error="ILLEGAL_GENERATION")
        )
        for node in staging.stage.brokers
    ]  # fmt: skip
    send(staging, source, PAYMENTS)
    member = start_member("member-0", source, sink, rewind=False)

    def committed_count() -> int:
        """The sum of committed offsets; incomplete if the last batch of a partition is aborted."""
        return sum(max(offset, 0) for offset in positions(staging, source).values())

    eventually(
        lambda: committed_count() > len(PAYMENTS) / 2, "half of it to be passed", member.tail
    )
    order(member, "end")
    eventually(lambda: not member.alive(), "its end", member.tail)
    for rule in refused:
        rule.remove()
    read_settled(staging, sink)
    found = effects(staging, sink)
    assert len(found) < eventually(committed_count, "the group's positions")
    assert set(found) < set(expected(PAYMENTS))
