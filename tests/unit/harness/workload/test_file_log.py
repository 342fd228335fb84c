"""A file as input: appended to, and read as a log of one partition."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from onceproof.harness.history.identity import RECORD_HEADER, digest
from onceproof.harness.history.tables import read_lines
from onceproof.harness.kafka.log_reader import UnreadableLog
from onceproof.harness.kafka.metadata import ClusterView
from onceproof.harness.kafka.single_partition_log import ReaderOfAll
from onceproof.harness.schedule.scenario import BadScenario
from onceproof.harness.workload.clients.file import append_all
from onceproof.harness.workload.clients.runtime import SenderRuntime
from onceproof.harness.workload.file_log import FileLog, read_file
from onceproof.harness.workload.payments import Payments, payments_of
from onceproof.harness.workload.senders.file import FILE
from onceproof.harness.workload.task_file import SenderTask, save_records
from onceproof.scenarios import connect

FEW = Payments(records=7, producers=1, partitions=1, topic="payments.jsonl")
SENT = list(payments_of(FEW, producer=0, seed=3))


def input_file(folder: Path, *lines: bytes) -> Path:
    file = folder / "payments.jsonl"
    file.write_bytes(b"".join(lines))
    return file


def test_acknowledged_lines_are_at_their_offsets(tmp_path: Path) -> None:
    (tmp_path / "history").mkdir()
    save_records(tmp_path / "producer-0.records.jsonl", FEW.sends(producer=0, seed=3))
    task = SenderTask(
        name="producer-0",
        bootstrap="",
        records=str(tmp_path / "producer-0.records.jsonl"),
        history=str(tmp_path / "history"),
    )
    read, write = os.pipe()
    os.write(write, b"rate inf\n")
    reports: list[dict[str, Any]] = []
    append_all(
        SenderRuntime(task, orders=lambda: read, say=lambda line: reports.append(json.loads(line)))
    )
    assert reports[-1] == {"called": 7, "ok": 7, "not_ok": 0, "timeouts": {}, "done": True}

    log = read_file(tmp_path / "payments.jsonl", "payments.jsonl")
    sends = read_lines(tmp_path / "history").tables["sends"].to_pylist()
    assert [(row["record"], row["partition"], row["offset"]) for row in sends] == [
        (e.headers[RECORD_HEADER].decode(), 0, e.offset) for e in log.entries
    ]
    assert [row["digest"] for row in sends] == [digest(e.key, e.value) for e in log.entries]
    assert log.high_watermark == log.last_stable_offset == sum(len(p.value) + 1 for p in SENT)


def test_line_without_newline_is_not_read(tmp_path: Path) -> None:
    first, second = SENT[0].value + b"\n", SENT[1].value
    log = read_file(input_file(tmp_path, first, second), "payments.jsonl")
    assert [entry.value for entry in log.entries] == [SENT[0].value]
    assert log.high_watermark == len(first)
    assert log.committed() == [True]


def test_read_starts_at_the_given_offset(tmp_path: Path) -> None:
    file = input_file(tmp_path, *(payment.value + b"\n" for payment in SENT[:3]))
    entries = read_file(file, "payments.jsonl").entries
    again = read_file(file, "payments.jsonl", entries[1].offset).entries
    assert again == entries[1:]


@pytest.mark.parametrize("line", [b"no payment", b"[]", b'{"record": 7, "account": null}', b"{}"])
def test_line_that_is_no_payment_has_no_identity(tmp_path: Path, line: bytes) -> None:
    (entry,) = read_file(input_file(tmp_path, line + b"\n"), "payments.jsonl").entries
    assert (entry.headers, entry.key, entry.value) == ({}, None, line)


def test_missing_file_is_empty(tmp_path: Path) -> None:
    log = read_file(tmp_path / "payments.jsonl", "payments.jsonl")
    assert (log.entries, log.high_watermark) == ([], 0)


def test_reader_of_all_reads_files_and_topics(tmp_path: Path) -> None:
    file = input_file(tmp_path, SENT[0].value + b"\n")
    with ReaderOfAll(
        ClusterView({}), {}, {"payments.jsonl": FileLog(file, "payments.jsonl")}
    ) as reader:
        (log,) = reader.read_topic("payments.jsonl")
        assert [entry.value for entry in log.entries] == [SENT[0].value]
        assert reader.ends("payments.jsonl") == {0: (log.high_watermark, log.high_watermark)}
        assert reader.count("payments.jsonl") == 1
        assert reader.count("payments") == 0
        with pytest.raises(UnreadableLog, match="payments-0 has no leader"):
            reader.read("payments", 0)


def test_scenario_creates_no_topic_for_a_file() -> None:
    from_file = next(s for s in connect.SCENARIOS if s.sender is FILE)
    assert from_file.files == ("payments.jsonl",)
    assert [topic.name for topic in from_file.all_topics] == ["payments-from-file"]
    from_topic = next(s for s in connect.SCENARIOS if s.sender is not FILE)
    assert (from_topic.files, from_topic.all_topics[0].name) == ((), "payments")


def test_second_producer_of_a_file_is_refused() -> None:
    from dataclasses import replace

    known = next(s for s in connect.SCENARIOS if s.sender is FILE)
    with pytest.raises(BadScenario, match="producers=1 and partitions=1"):
        replace(known, workload=replace(FEW, producers=2))
