"""Senders in Java: what the log holds is what their history says, whatever happened on the way."""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from harness.bench import addresses, open_reader
from harness.clock import clock_id, now
from harness.identity import ATTEMPT_HEADER, RECORD_HEADER, digest
from harness.java.programs import JavaPrograms, compiled
from harness.kafka.log_reader import Entry
from harness.kafka.metadata import ClusterView
from harness.links.gate.rules import Rule
from harness.recording.tables import read_lines
from harness.stage.processes import Process
from harness.stage.topology import Link
from harness.tools.setup import StageTools
from harness.workload.payments import Payment, Payments, payments_of
from harness.workload.task_file import (
    SenderTask,
    TaskRecord,
    in_transactions,
    plain,
    write_records,
)
from tests.integration.staging import Staged, eventually
from tests.integration.transactions import producer as impostor

pytestmark = pytest.mark.integration

Rows = list[dict[str, Any]]


@pytest.fixture(scope="session")
def programs(tools: StageTools) -> JavaPrograms:
    return compiled(tools.java, tools.kafka_libs)


@dataclass
class Running:
    """A sender that runs, what it told last, and what it wrote."""

    process: Process
    history: Path
    told: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        threading.Thread(target=self._listen, daemon=True).start()

    def order(self, line: str) -> None:
        assert self.process.popen.stdin is not None
        self.process.popen.stdin.write(line.encode() + b"\n")
        self.process.popen.stdin.flush()

    def wait_done(self) -> dict[str, Any]:
        eventually(
            lambda: self.told.get("done") or not self.process.leader_alive(),
            "its end",
            lambda: (self.told, self.process.tail()),
        )
        eventually(lambda: not self.process.alive(), "it to be gone")
        assert self.told.get("done"), self.process.tail()
        return self.told

    def table(self, name: str) -> Rows:
        return read_lines(self.history).tables[name].to_pylist()

    def _listen(self) -> None:
        assert self.process.popen.stdout is not None
        for line in self.process.popen.stdout:
            self.told = json.loads(line)


Start = Callable[..., Running]


@pytest.fixture
def start(staging: Staged, programs: JavaPrograms, tmp_path: Path) -> Iterator[Start]:
    """Start a sender with records of its own."""
    started: list[Running] = []

    def make(program: str, records: Sequence[TaskRecord], **task: Any) -> Running:
        history = tmp_path / "history"
        history.mkdir(exist_ok=True)
        write_records(tmp_path / "records.jsonl", records)
        SenderTask(
            name="sender", bootstrap=staging.stage.bootstrap("producer"), history=str(history),
            records=str(tmp_path / "records.jsonl"), **task,
        ).save(tmp_path / "task.json")  # fmt: skip
        process = staging.processes.start(
            "java-client", programs.command(program, tmp_path / "task.json"), pipes=True
        )
        started.append(Running(process, history))
        return started[-1]

    yield make
    for one in started:
        one.process.kill("the test is over")


def payments(records: int) -> list[Payment]:
    return list(payments_of(Payments(records=records, producers=1), producer=0, seed=5))


def logged(staging: Staged, *topics: str) -> dict[tuple[str, int, int], tuple[Entry, bool]]:
    """Every record in the logs by its place, and whether it is committed."""
    with open_reader(staging.stage, ClusterView(addresses(staging.stage))) as reader:
        return {
            (entry.topic, entry.partition, entry.offset): (entry, committed)
            for topic in topics
            for log in reader.read_topic(topic)
            for entry, committed in zip(log.entries, log.committed(), strict=True)
            if entry.kind == "data"
        }


def attempt(entry: Entry) -> str:
    return entry.headers[ATTEMPT_HEADER].decode()


def check_acknowledged(sends: Rows, log: dict[tuple[str, int, int], tuple[Entry, bool]]) -> None:
    """What was acknowledged is where it says, and nothing is there that was not called."""
    assert {attempt(entry) for entry, _ in log.values()} <= {s["attempt"] for s in sends}
    for row in sends:
        if row["outcome"] == "ok":
            entry, _ = log[row["topic"], row["partition"], row["offset"]]
            assert (attempt(entry), entry.headers[RECORD_HEADER].decode()) == (
                row["attempt"], row["record"]
            )  # fmt: skip
            assert digest(entry.key, entry.value) == row["digest"]


_MANY = 300
KINDS: dict[str, dict[str, Any]] = {
    "idempotent": {},
    "without-idempotence": {"idempotence": False},
    "acks-1": {"idempotence": False, "acks": "1"},
    "sends-again-by-itself": {"resends": True, "delivery_timeout_ms": 1000},
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_sender_whose_answer_is_lost(
    kind: str, staging: Staged, topic: Callable[..., str], start: Start
) -> None:
    name = topic()
    gates = [staging.stage.gate(Link("producer", node)) for node in staging.stage.brokers]
    began = now()
    run = start("Sender", list(plain(payments(_MANY), topic=name)), **KINDS[kind])
    run.order("rate 50")
    eventually(lambda: run.told.get("ok", 0) > 5, "its first", lambda: run.told)
    lost = [
        gate.put(Rule(direction="response", api="Produce", action="drop", topic=name))
        for gate in gates
    ]
    eventually(lambda: any(rule.fired for rule in lost), "a lost answer", lambda: run.told)
    run.order("rate inf")
    told = run.wait_done()
    for rule in lost:
        rule.remove()
    assert (told["called"], told["ok"], told["not_ok"], told["error"]) == (_MANY, _MANY, 0, None)

    sends, log = run.table("sends"), logged(staging, name)
    check_acknowledged(sends, log)
    assert [s["ordinal"] for s in sends] == list(range(len(sends)))
    assert {s["clock"] for s in sends} == {clock_id()}
    assert all(began < s["called_at"] <= s["returned_at"] < now() for s in sends)
    assert {s["record"] for s in sends} == {p.record for p in payments(_MANY)}
    attempts = Counter(attempt(entry) for entry, _ in log.values())
    records = Counter(entry.headers[RECORD_HEADER] for entry, _ in log.values())
    assert len(records) == _MANY
    again = len(sends) - _MANY
    if kind == "idempotent":
        assert (len(log), again) == (_MANY, 0)
        assert {entry.producer_id for entry, _ in log.values()} != {-1}
    elif kind == "sends-again-by-itself":
        # The application has no way to know: what was lost is only the answer.
        assert {s["outcome"] for s in sends} == {"ok", "info"}
        assert again > 0
        assert max(attempts.values()) == 1
        assert max(records.values()) > 1
    else:
        assert again == 0
        assert max(attempts.values()) == 2
        assert {entry.producer_id for entry, _ in log.values()} == {-1}
    assert all(row["writer"] == "sender" for row in run.table("clocks"))


def test_a_transactor(staging: Staged, topic: Callable[..., str], start: Start) -> None:
    """Committed, aborted on purpose, and with an answer to EndTxn lost."""
    topics = (topic(3), topic(3))
    lost = [
        staging.stage.gate(Link("producer", node)).put(
            Rule(
                direction="response", api="EndTxn", action="drop", nth=2,
                transactional_id="an-id-of-ours",
            )
        )
        for node in staging.stage.brokers
    ]  # fmt: skip
    records = list(
        in_transactions(payments(60), topics=topics, partitions=3, size=6, abort_every=4)
    )
    run = start("Transactor", records, transactional_id="an-id-of-ours")
    run.order("rate inf")
    told = run.wait_done()
    assert sum(len(rule.fired) for rule in lost) == 1
    for rule in lost:
        rule.remove()
    assert {name: told[name] for name in ("called", "ok", "not_ok", "committed", "aborted")} == {
        "called": 60, "ok": 60, "not_ok": 0, "committed": 8, "aborted": 2
    }  # fmt: skip
    assert told["error"] is None

    txns = {row["txn"]: row for row in run.table("txns")}
    assert [row["outcome"] for row in txns.values()] == [
        "aborted" if n % 4 == 3 else "committed" for n in range(10)
    ]
    for row in txns.values():
        assert row["transactional_id"] == "an-id-of-ours"
        assert (row["commit_called_at"] is None) is (row["outcome"] == "aborted")
        assert row["began_at"] < (row["commit_called_at"] or row["ended_at"]) <= row["ended_at"]
    sends, log = run.table("sends"), logged(staging, *topics)
    check_acknowledged(sends, log)
    assert {s["outcome"] for s in sends} == {"ok"}
    assert len(log) == len(sends) == 60
    for row in sends:
        _, committed = log[row["topic"], row["partition"], row["offset"]]
        assert committed is (txns[row["txn"]]["outcome"] == "committed")
    for txn in txns:
        places = {(s["topic"], s["partition"]) for s in sends if s["txn"] == txn}
        assert len(places) == 6


def test_a_transactor_that_is_fenced_says_so(
    staging: Staged, topic: Callable[..., str], start: Start
) -> None:
    name = topic()
    records = list(in_transactions(payments(600), topics=(name,), partitions=1, size=2))
    run = start("Transactor", records, transactional_id="taken-over")
    run.order("rate 100")
    eventually(lambda: run.told.get("committed", 0) > 3, "its first", lambda: run.told)
    impostor(staging.stage.bootstrap("producer"), "taken-over")
    told = run.wait_done()
    assert "Fenced" in told["error"]
    assert told["called"] < 600
    assert told["ok"] + told["not_ok"] == told["called"]
    *before, last = run.table("txns")
    assert {row["outcome"] for row in before} == {"committed"}
    assert last["outcome"] == "info"
    assert "Fenced" in last["error"]
    committed = [attempt(entry) for entry, committed in logged(staging, name).values() if committed]
    ended = {row["txn"] for row in before}
    assert committed == [s["attempt"] for s in run.table("sends") if s["txn"] in ended]


@pytest.mark.parametrize("program", ["Sender", "Transactor"])
def test_without_a_harness_it_ends(program: str, topic: Callable[..., str], start: Start) -> None:
    name = topic()
    records = list(in_transactions(payments(6), topics=(name,), partitions=1, size=2))
    run = start(program, records, transactional_id="left" if program == "Transactor" else None)
    eventually(lambda: run.told, "its first word", run.process.tail)
    assert run.told["called"] == 0  # nobody has said yet how fast
    assert run.process.popen.stdin is not None
    run.process.popen.stdin.close()
    eventually(lambda: not run.process.alive(), "its end", run.process.tail)
    assert "the harness is gone" in run.process.tail()
