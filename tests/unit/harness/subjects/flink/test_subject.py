"""Flink subjects: names, guarantees and job settings."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from onceproof.harness.processes.processes import Processes
from onceproof.harness.sinks.balances import BalancesTopic
from onceproof.harness.subjects.flink import subject as module
from onceproof.harness.subjects.flink.programs import FlinkProgram
from onceproof.harness.subjects.flink.subject import VERSION, Flink
from onceproof.harness.tools import jar_lock
from onceproof.harness.tools.jar_lock import FLINK
from onceproof.harness.wait import wait_until
from tests.unit.fakes.pipelines import parts_in
from tests.unit.fakes.stage import FakeStage

TWINS = (
    Flink(guarantee="at-least-once"),
    Flink(restored=False),
    Flink(transaction_timeout_ms=5_000),
)


def test_each_variant_has_its_own_name() -> None:
    names = [s.name for s in (Flink(), *TWINS, Flink(balances=True), Flink(version="1.20.1"))]
    assert names == [
        "flink", "flink-at-least-once", "flink-anew", "flink-hasty", "flink-balances", "flink-1.20",
    ]  # fmt: skip
    assert all("Broken twin" in twin.says for twin in TWINS[1:])
    assert "AT_LEAST_ONCE" in TWINS[0].says
    assert "EXACTLY_ONCE" in Flink().says


def test_balances_subject_opens_the_balances_topic(tmp_path: Path) -> None:
    subject = Flink(balances=True)
    assert (subject.sink, subject.sinks, subject.output_topic) == ("balances", (), "balances")
    reader: Any = None
    sink = subject.open_sink(database="", reader=reader, work=tmp_path)
    assert isinstance(sink, BalancesTopic)


def test_rejects_version_without_locked_jars() -> None:
    with pytest.raises(ValueError, match=r"unsupported Flink version 1\.9\.0: expected 2\.2"):
        Flink(version="1.9.0")


@pytest.mark.parametrize("version", FLINK)
def test_jars_of_each_version_are_locked(version: str) -> None:
    locked = {str(jar) for jar in jar_lock.load("flink", version).sums}
    assert {str(root) for root in jar_lock.flink_roots(version)} <= locked
    # A repository that briefly fails to answer leaves dependencies out of the lock.
    needed = ("flink-core", "flink-runtime", "flink-streaming-java", "flink-rpc-akka-loader")
    assert {f"org.apache.flink:{name}:{version}" for name in needed} <= locked


def test_job_process_gets_all_settings(
    tmp_path: Path, processes: Processes, monkeypatch: pytest.MonkeyPatch
) -> None:
    versions: list[str] = []

    def program_for(tools: Any, version: str) -> FlinkProgram:
        versions.append(version)
        return FlinkProgram(java=Path("/bin/echo"), class_path="classes")

    monkeypatch.setattr(module, "program_for", program_for)
    for name in ("work", "history"):
        (tmp_path / name).mkdir()
    parts = replace(
        parts_in(tmp_path / "work", stage=FakeStage(brokers=("b",)), processes=processes),
        history=tmp_path / "history",
        address="127.77.30.1",
    )
    job = Flink(transaction_timeout_ms=5_000).pipeline(parts)
    try:
        assert versions == [VERSION]
        assert job.transactional
        job.start()
        process = job.process
        assert process is not None
        wait_until(lambda: not process.leader_alive(), what="the echo to end", seconds=20)
        arguments = process.log.read_text().split()
    finally:
        job.close()
    assert {
        "PaymentsJob",
        "job.guarantee=EXACTLY_ONCE",
        "job.balances=false",
        "job.into=payments-with-fees",
        "source.bootstrap.servers=pipeline.b:9092",
        "source.isolation.level=read_committed",
        "sink.bootstrap.servers=pipeline-sink.b:9092",
        "sink.transaction.timeout.ms=5000",
        "flink.rest.bind-address=127.77.30.1",
        "flink.restart-strategy.type=disable",
        f"flink.io.tmp.dirs={tmp_path / 'work' / 'flink'}",
        f"-Djava.io.tmpdir={tmp_path / 'work' / 'flink'}",
        f"flink.execution.checkpointing.dir={(tmp_path / 'work/checkpoints/life-1').as_uri()}",
    } <= set(arguments)
