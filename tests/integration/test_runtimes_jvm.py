"""Brokers, a Java client and a database in older versions than usual work as the usual ones do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from onceproof.harness.history.identity import ATTEMPT_HEADER
from onceproof.harness.history.tables import read_lines
from onceproof.harness.kafka.topics import create_topics
from onceproof.harness.links.gate.rules import MessageMatch
from onceproof.harness.links.topology import AUDITOR, Link
from onceproof.harness.tools.setup import Tools, ensure
from onceproof.harness.workload.payments import Payments
from onceproof.harness.workload.senders.java import JAVA
from onceproof.harness.workload.task_file import SenderTask, save_records
from tests.end_to_end.catalogue import LATER
from tests.integration.staging import Staged, eventually, read_settled, staged, status_at_end

pytestmark = [pytest.mark.integration, LATER]

BROKERS, CLIENTS, DATABASE = "3.9.2", "3.0.0", "16.4"
RECORDS = 300


@pytest.fixture(scope="module")
def old_tools() -> Tools:
    return ensure(versions={"kafka": BROKERS, "kafka-clients": CLIENTS, "postgresql": DATABASE})


@pytest.fixture(scope="module")
def old_stage(old_tools: Tools, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Staged]:
    assert old_tools.stage is not None
    with staged(tmp_path_factory.mktemp("old") / "run", old_tools.stage) as up:
        yield up


def test_brokers_have_the_chosen_version(old_stage: Staged) -> None:
    assert old_stage.stage.versions()["kafka"] == BROKERS
    for node in old_stage.stage.brokers:
        log = (old_stage.logs / f"{node}.1.log").read_text()
        assert f"Kafka version: {BROKERS}" in log


def test_database_has_the_chosen_version(old_stage: Staged) -> None:
    assert old_stage.stage.versions()["postgresql"] == DATABASE
    with psycopg.connect(old_stage.stage.database(AUDITOR)) as connection:
        assert connection.execute("SHOW server_version").fetchone() == (DATABASE,)


def test_old_client_does_not_duplicate_when_a_response_is_lost(
    old_tools: Tools, old_stage: Staged, tmp_path: Path
) -> None:
    workload = Payments(records=RECORDS, producers=1, topic="old-payments")
    bootstrap = old_stage.stage.bootstrap(AUDITOR)
    create_topics(bootstrap, [workload.topic], partitions=1)
    history, records, task = (tmp_path / n for n in ("history", "records.jsonl", "task.json"))
    history.mkdir()
    save_records(records, workload.sends(producer=0, seed=1))
    SenderTask(
        name="sender",
        bootstrap=old_stage.stage.bootstrap("producer"),
        records=str(records),
        history=str(history),
        client=JAVA.settings(transactional=False),
        transactional_id=None,
    ).save(task)
    rule = MessageMatch(direction="response", api="Produce", topic=workload.topic).rule("drop")
    placed = [
        old_stage.stage.gate(Link("producer", node)).put(rule) for node in old_stage.stage.brokers
    ]
    sender = old_stage.processes.start("java", JAVA.command(task, old_tools), pipes=True)
    assert f"kafka-clients-{CLIENTS}.jar" in " ".join(map(str, sender.popen.args))  # type: ignore[arg-type]
    try:
        status = status_at_end(sender)
    finally:
        sender.kill("the test is over")
        for on_link in placed:
            on_link.remove()

    assert (status["ok"], status["done"]) == (RECORDS, True), sender.tail()
    assert any(on_link.fired for on_link in placed)
    sends = read_lines(history).tables["sends"].to_pylist()
    assert {row["outcome"] for row in sends} == {"ok"}
    entries = [e for log in read_settled(old_stage, workload.topic) for e in log.entries]
    attempts = Counter(e.headers[ATTEMPT_HEADER].decode() for e in entries)
    assert attempts == Counter(row["attempt"] for row in sends)
    assert {e.producer_id for e in entries}.isdisjoint({-1})


def test_old_broker_is_ready_again_after_a_kill(old_stage: Staged) -> None:
    node = old_stage.stage.brokers[0]
    old_stage.stage.kill(node, "a test")
    old_stage.stage.restart(node)
    eventually(lambda: old_stage.stage.disturbed() == {}, "the stage to be undisturbed")
