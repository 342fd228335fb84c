"""`onceproof audit` on real brokers."""

from __future__ import annotations

import json
import subprocess
import sys
import time
import zlib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import psycopg
import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, OffsetSpec

from onceproof.harness.links.topology import AUDITOR
from tests.end_to_end.catalogue import LATER
from tests.integration.staging import Staged

HOUR = 3_600_000
FUNCTION = """
import json, zlib

def unpacked(data):
    return json.loads(zlib.decompress(data))

def enriched(order):
    return {"id": order["id"], "total": order["amount"] * 2}
"""


@pytest.fixture
def start_ms() -> int:
    """Three hours ago, in milliseconds."""
    return time.time_ns() // 1_000_000 - 3 * HOUR


def audit(
    staging: Staged, folder: Path, *options: str, code: int
) -> tuple[dict[str, Any], list[dict[str, Any]], str]:
    """Run the command; return its report, its repairs and its output."""
    command = ("audit", "--bootstrap", staging.stage.bootstrap(AUDITOR), "--out", "runs", *options)
    done = subprocess.run(
        [sys.executable, "-m", "onceproof", *command],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == code, done.stdout + done.stderr
    found = sorted(folder.glob("runs/*-audit-*"))
    if not (found and (found[-1] / "report.json").exists()):
        return {}, [], done.stdout + done.stderr
    assert "<h1>" in (found[-1] / "report.html").read_text()
    lines = (found[-1] / "repairs.jsonl").read_text().splitlines()
    report = json.loads((found[-1] / "report.json").read_text())
    return report, [json.loads(line) for line in lines], done.stdout + done.stderr


def send(
    staging: Staged,
    topic: str,
    rows: Iterable[tuple[int, str, dict[str, Any], int]],
    pack: Callable[[bytes], bytes] = bytes,
) -> None:
    """Send rows of partition, key, value and timestamp; `pack` encodes the JSON."""
    producer = Producer({"bootstrap.servers": staging.stage.bootstrap(AUDITOR), "linger.ms": 50})
    for partition, key, value, at in rows:
        producer.produce(topic, pack(json.dumps(value).encode()), key, partition, timestamp=at)
    assert producer.flush(60) == 0


def orders(start_ms: int, count: int = 300) -> list[tuple[int, str, dict[str, Any], int]]:
    """Orders, one every 20 seconds, over three partitions."""
    return [
        (n % 3, f"o{n:04d}", {"id": f"o{n:04d}", "amount": n}, start_ms + n * 20_000)
        for n in range(count)
    ]


def outputs(
    sent: list[tuple[int, str, dict[str, Any], int]],
) -> list[tuple[int, str, dict[str, Any], int]]:
    return [
        (p, key, {"id": value["id"], "total": value["amount"] * 2}, at + 1_000)
        for p, key, value, at in sent
    ]


@pytest.mark.parametrize(
    ("pack", "options"),
    [
        pytest.param(bytes, (), marks=LATER),
        (zlib.compress, ("--decode", "rules.py:unpacked")),
    ],
    ids=["JSON", "packed"],
)
def test_reports_exactly_the_planted_defects(
    staging: Staged,
    topic: Callable[..., str],
    tmp_path: Path,
    start_ms: int,
    pack: Callable[[bytes], bytes],
    options: tuple[str, ...],
) -> None:
    source, sink = topic(partitions=3), topic(partitions=3)
    sent = orders(start_ms)
    effects_by_input = outputs(sent)
    lost, duplicated, wrong = {7, 8, 133}, {20, 21}, {40, 42}
    for n in wrong:
        effects_by_input[n][2]["total"] += 1
    effects = [row for n, row in enumerate(effects_by_input) if n not in lost] + [
        effects_by_input[n] for n in duplicated
    ]
    send(staging, source, sent, pack)
    send(staging, sink, effects, pack)
    (tmp_path / "rules.py").write_text(FUNCTION)

    report, repairs, printed = audit(
        staging,
        tmp_path,
        *("--input", source, "--output", sink, "--identity", "json:$.id"),
        *("--expect", "rules.py:enriched", *options),
        code=1,
    )

    assert [
        (r["partition"], r["offset"], r["record"]) for r in repairs if r["repair"] == "lost"
    ] == [(n % 3, n // 3, f"o{n:04d}") for n in sorted(lost, key=lambda n: (n % 3, n))]
    copies = [r for r in repairs if r["repair"] == "duplicate"]
    assert {r["record"] for r in copies} == {f"o{n:04d}" for n in duplicated}
    assert [r["first"] for r in copies].count(True) == len(duplicated)
    assert len(copies) == 2 * len(duplicated)
    assert {
        (r["record"], json.loads(r["expected"])["total"], json.loads(r["found"])["total"])
        for r in repairs
        if r["repair"] == "wrong"
    } == {(f"o{n:04d}", 2 * n, 2 * n + 1) for n in wrong}
    assert len(repairs) == len(lost) + len(copies) + len(wrong)
    assert report["result"] == "violated"
    assert sum(sum(b["found"].values()) for b in report["buckets"]) == 7
    assert "lost-output" in printed


@LATER
def test_inputs_without_effect_near_the_window_end_are_undecided(
    staging: Staged, topic: Callable[..., str], tmp_path: Path, start_ms: int
) -> None:
    source, sink = topic(partitions=3), topic(partitions=3)
    sent = orders(start_ms)
    # Lost: one before the window, one in it. The last 30 have no effect yet.
    effects = [row for n, row in enumerate(outputs(sent)[:270]) if n not in (10, 150)]
    send(staging, source, sent)
    send(staging, sink, effects)
    since = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime((start_ms + 100 * 20_000) / 1000))

    report, repairs, printed = audit(
        staging,
        tmp_path,
        *("--input", source, "--output", sink, "--identity", "key", "--from", since),
        code=1,
    )

    assert [r["record"] for r in repairs] == ["o0150"]
    # The last 30 have waited for their effects for over an hour.
    assert sum(p["undecided"] for p in report["partitions"]) == 30
    assert sum(p["judged"] for p in report["partitions"]) == 170
    assert "undecided, not lost" in printed
    # A late effect, behind all others, is not lost.
    send(staging, sink, [outputs(sent)[150]])
    report, repairs, _ = audit(
        staging,
        tmp_path,
        *("--input", source, "--output", sink, "--identity", "key", "--from", since),
        code=5,
    )
    assert (repairs, report["result"]) == ([], "unknown")
    to = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime((start_ms + 260 * 20_000) / 1000))
    report, repairs, _ = audit(
        staging,
        tmp_path,
        *("--input", source, "--output", sink, "--identity", "key", "--from", since, "--to", to),
        code=0,
    )
    assert (repairs, report["result"]) == ([], "clean")
    assert (
        report["outputs"][0]["others"] == 40
    )  # 30 within --settle before the window, 10 behind it


@LATER
def test_each_input_needs_one_output_or_dead_letter(
    staging: Staged, topic: Callable[..., str], tmp_path: Path, start_ms: int
) -> None:
    source, sink, dead_letters = topic(), topic(), topic()
    sent = [(0, *row[1:]) for row in orders(start_ms, 120)]
    made = outputs(sent)
    send(staging, source, sent)
    # 5: dead letter only. 9: neither. 11: both. 119, the last: dead letter only.
    send(staging, sink, [row for n, row in enumerate(made) if n not in (5, 9, 119)])
    send(staging, dead_letters, [made[n] for n in (5, 11, 119)])

    report, repairs, _ = audit(
        staging,
        tmp_path,
        *("--input", source, "--output", sink, "--dead-letters", dead_letters, "--identity", "key"),
        code=1,
    )

    assert [(r["repair"], r["record"]) for r in repairs if r["repair"] == "lost"] == [
        ("lost", "o0009")
    ]
    assert {r["record"] for r in repairs if r["repair"] == "duplicate"} == {"o0011"}
    assert [(o["name"], o["judged"]) for o in report["outputs"]] == [(sink, 117), (dead_letters, 3)]
    assert sum(p["undecided"] for p in report["partitions"]) == 0


@LATER
def test_committed_inputs_without_effect_are_lost(
    staging: Staged, topic: Callable[..., str], tmp_path: Path, start_ms: int
) -> None:
    source, sink = topic(), topic()
    sent = [(0, *row[1:]) for row in orders(start_ms, 20)]
    send(staging, source, sent)
    send(staging, sink, outputs(sent)[:15])
    consumer = Consumer(
        {"bootstrap.servers": staging.stage.bootstrap(AUDITOR), "group.id": f"group-{source}"}
    )
    consumer.commit(offsets=[TopicPartition(source, 0, 18)], asynchronous=False)
    consumer.close()

    report, repairs, _ = audit(
        staging,
        tmp_path,
        *("--input", source, "--output", sink, "--identity", "key", "--group", f"group-{source}"),
        code=1,
    )

    assert [r["record"] for r in repairs] == ["o0015", "o0016", "o0017"]
    assert report["partitions"][0]["undecided"] == 2
    assert report["partitions"][0]["reached"] == 18


@LATER
def test_aborted_effects_are_lost_and_open_ones_undecided(
    staging: Staged, topic: Callable[..., str], tmp_path: Path, start_ms: int
) -> None:
    source, sink = topic(), topic()
    sent = [(0, *row[1:]) for row in orders(start_ms, 60)]
    made = outputs(sent)
    send(staging, source, sent)
    servers = {"bootstrap.servers": staging.stage.bootstrap(AUDITOR)}
    producer = Producer({**servers, "transactional.id": f"copy-{sink}"})
    producer.init_transactions(30)

    def write(rows: list[tuple[int, str, dict[str, Any], int]]) -> None:
        producer.begin_transaction()
        for partition, key, value, at in rows:
            producer.produce(sink, json.dumps(value), key, partition, timestamp=at)
        producer.flush(30)

    write(made[:3])
    producer.abort_transaction(30)
    write(made[2:40])
    producer.commit_transaction(30)
    write(made[40:])

    report, repairs, printed = audit(
        staging,
        tmp_path,
        *("--input", source, "--output", sink, "--identity", "key", "--settle", "60"),
        code=1,
    )

    assert [r["record"] for r in repairs] == ["o0000", "o0001"]
    assert "undecided, not lost" in printed
    assert report["open"][0]["topic"] == sink
    producer.commit_transaction(30)
    _, repairs, _ = audit(
        staging,
        tmp_path,
        *("--input", source, "--output", sink, "--identity", "key", "--settle", "60"),
        code=1,
    )
    assert [r["record"] for r in repairs] == ["o0000", "o0001"]


@LATER
def test_audits_table_and_counts_unknown_rows(
    staging: Staged,
    topic: Callable[..., str],
    tmp_path: Path,
    start_ms: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    source = topic()
    sent = [(0, *row[1:]) for row in orders(start_ms, 100)]
    send(staging, source, sent)
    database = staging.stage.database(AUDITOR)
    table = f"audited_{source.replace('-', '_')}"
    rows = [value["id"] for n, (_, _, value, _) in enumerate(sent) if n not in (3, 60)]
    with psycopg.connect(database) as connection:
        connection.execute(f"CREATE TABLE {table} (id text)")
        connection.cursor().executemany(
            f"INSERT INTO {table} VALUES (%s)", [(row,) for row in [*rows, "o0005", "stranger"]]
        )
    monkeypatch.setenv("ONCEPROOF_AUDIT_DATABASE", database)

    report, repairs, _ = audit(
        staging,
        tmp_path,
        *("--input", source, "--output", f"postgres:{table}", "--identity", "json:$.id"),
        code=1,
    )

    assert [(r["repair"], r["record"]) for r in repairs] == [
        ("duplicate", "o0005"),
        ("duplicate", "o0005"),
        ("lost", "o0003"),
        ("lost", "o0060"),
    ]
    assert report["outputs"][0]["unknown"] == 1


def test_clean_audit_writes_nothing_to_the_cluster(
    staging: Staged, topic: Callable[..., str], tmp_path: Path, start_ms: int
) -> None:
    source, sink = topic(), topic()
    sent = [(0, *row[1:]) for row in orders(start_ms, 5)]
    send(staging, source, sent)
    send(staging, sink, outputs(sent))
    admin = AdminClient({"bootstrap.servers": staging.stage.bootstrap(AUDITOR)})

    def cluster() -> tuple[set[str], set[str], dict[str, int]]:
        """Topics, groups, and the end of each of our logs."""
        topics = {name for name in admin.list_topics(timeout=30).topics if name[:2] != "__"}
        listed = admin.list_consumer_groups(request_timeout=30).result().valid
        ends = {TopicPartition(name, 0): OffsetSpec.latest() for name in (source, sink)}
        found = {
            place.topic: future.result(30).offset
            for place, future in admin.list_offsets(ends).items()
        }
        return topics, {group.group_id for group in listed}, found

    before = cluster()

    report, _, _ = audit(
        staging, tmp_path, "--input", source, "--output", sink, "--identity", "key", code=0
    )

    assert report["headline"].startswith("Nothing lost")
    assert cluster() == before
    assert {p.stat().st_mode & 0o77 for p in tmp_path.glob("runs/*-audit-*")} == {0}


@LATER
def test_resumed_audit_yields_the_same_repairs(
    staging: Staged, topic: Callable[..., str], tmp_path: Path, start_ms: int
) -> None:
    source, sink = topic(partitions=3), topic(partitions=3)
    sent = orders(start_ms)
    send(staging, source, sent)
    send(staging, sink, [row for n, row in enumerate(outputs(sent)) if n != 50])
    options = ("--input", source, "--output", sink, "--identity", "key")
    report, repairs, _ = audit(staging, tmp_path, *options, code=1)
    (folder,) = tmp_path.glob("runs/*-audit-*")
    for file in [folder / "report.json", *list((folder / "read" / "input").glob("*.parquet"))[:2]]:
        file.unlink()
    send(staging, source, [(0, "later", {"id": "later", "amount": 0}, start_ms)])

    report_again, repairs_again, _ = audit(staging, tmp_path, "--resume", str(folder), code=1)

    assert repairs_again == repairs
    assert [r["record"] for r in repairs] == ["o0050"]
    assert report_again["partitions"] == report["partitions"]  # the window is unchanged


def test_rejects_missing_topic_and_empty_window(
    staging: Staged, topic: Callable[..., str], tmp_path: Path
) -> None:
    source = topic()
    _, _, printed = audit(staging, tmp_path, "--input", "nothing", "--output", source, code=3)
    assert "topic nothing cannot be read" in printed
    _, _, printed = audit(staging, tmp_path, "--input", source, "--output", source, code=2)
    assert f"{source} has no record in this window" in printed
