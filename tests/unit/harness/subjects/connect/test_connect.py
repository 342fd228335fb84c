"""Kafka Connect subjects: committed offsets, hazards, worker settings and the file sink."""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from onceproof.harness.history.identity import digest
from onceproof.harness.kafka.group_offsets import Commit
from onceproof.harness.kafka.log_reader import Entry
from onceproof.harness.sinks.copies import CopiesTopic
from onceproof.harness.sinks.lines import VIEW, Lines
from onceproof.harness.subjects.connect.login import Login
from onceproof.harness.subjects.connect.offsets import commit_of, place_in_file, place_in_topic
from onceproof.harness.subjects.connect.rest import RestClient
from onceproof.harness.subjects.connect.sink import FileSink
from onceproof.harness.subjects.connect.source import FileSource, MirrorSource
from onceproof.harness.subjects.connect.worker import ConnectProgram, WorkerTask
from onceproof.harness.subjects.connect.workers import hazards
from onceproof.harness.workload.payments import Payments, payments_of
from tests.unit.fakes import logs

PAYMENTS = list(payments_of(Payments(records=4, producers=1), producer=0, seed=5))
VALUES = [payment.value.decode() for payment in PAYMENTS]


def entry(key: Any, value: Any, **more: Any) -> Entry:
    data = None if value is None else json.dumps(value).encode()
    return logs.entry(0, key=json.dumps(key).encode(), value=data, **more)


# Committed offsets.


def test_file_source_offset_is_the_next_byte() -> None:
    found = commit_of(
        entry(["copy", {"filename": "/somewhere/payments.jsonl"}], {"position": 170}),
        "copy",
        place_in_file,
    )
    assert found == Commit(topic="payments.jsonl", partition=0, offset=170, transactional=True)


def test_mirror_source_offset_is_one_past_the_copied_record() -> None:
    source_partition = {"cluster": "origin", "topic": "payments", "partition": 2}
    found = commit_of(
        entry(["copy", source_partition], {"offset": 41}, transactional=False),
        "copy",
        place_in_topic,
    )
    assert found == Commit(topic="payments", partition=2, offset=42, transactional=False)


@pytest.mark.parametrize(
    "other",
    [
        entry(["another", {"filename": "/a"}], {"position": 1}),
        entry(["copy", {"filename": "/a"}], None),
        entry(["copy", {"filename": "/a"}], {"position": 1}, kind="commit"),
    ],
)
def test_unrelated_entries_are_not_commits(other: Entry) -> None:
    assert commit_of(other, "copy", place_in_file) is None


# Hazards.


def test_finds_aborted_transactions_and_replayed_inputs() -> None:
    log = [
        {"topic": topic, "partition": 0, "offset": n, "producer_id": 7, "kind": kind, "record": "d"}
        for topic in ("out", "in")
        for n, kind in enumerate(("data", "data", "abort", "data", "commit"))
    ]
    effects = [{"sink": "out", "record": r} for r in ("a", "b", "a", "c", "c", None, None)]
    effects += 3 * [{"sink": "out", "record": "d"}]  # sent three times, so not replayed
    effects += [{"sink": "other", "record": "b"}]
    aborted, replayed = hazards(log, effects, sink="out")
    assert (aborted["hazard"], aborted["detail"].split()[0]) == ("aborted-transaction", "2")
    detail = "2 inputs have more effects in out than expected"
    assert (replayed["hazard"], replayed["detail"]) == ("replayed-input", detail)


def test_undisturbed_run_has_no_hazards() -> None:
    log = [
        {"topic": "out", "partition": 0, "offset": 0, "producer_id": 7, "kind": "commit"},
        {"topic": "onceproof-connect-offsets", "kind": "abort"},
    ]
    assert hazards(log, [{"sink": "out", "record": "a"}], sink="out") == []


# The sink's file.


def lines(folder: Path, text: str) -> Lines:
    (folder / "payments.txt").write_text(text)
    return Lines(folder / "payments.txt", sink="payments.txt")


def records(sink: Lines) -> list[str | None]:
    return [effect.record for effect in sink.effects()]


def test_each_line_is_an_effect(tmp_path: Path) -> None:
    sink = lines(tmp_path, "".join(f"{value}\n" for value in VALUES))
    first = sink.effects()[0]
    assert records(sink) == [payment.record for payment in PAYMENTS]
    assert (first.digest, first.position, first.view) == (digest(VALUES[0]), "line 1", VIEW)
    assert sink.torn() == 0
    assert sink.size() == sum(len(value) + 1 for value in VALUES)


@pytest.mark.parametrize(
    ("text", "torn"),
    [
        (f"{VALUES[0]}{VALUES[1]}\n", 0),  # killed before the newline
        (f"{VALUES[0]}\n\n{VALUES[1]}\n", 0),  # two concurrent writers
        (f"{VALUES[0]}\n{VALUES[2][:30]}{VALUES[1]}\n", 1),  # killed in mid-line
        (f"{VALUES[0]}\n{VALUES[1]}\n{VALUES[2][:-1]}", 1),
        (f"{VALUES[0]}\n{VALUES[1]}\n7\n", 1),
    ],
)
def test_torn_lines_are_counted_and_skipped(tmp_path: Path, text: str, torn: int) -> None:
    sink = lines(tmp_path, text)
    assert records(sink) == [PAYMENTS[0].record, PAYMENTS[1].record]
    assert sink.torn() == torn


def test_missing_file_has_no_effects(tmp_path: Path) -> None:
    sink = Lines(tmp_path / "payments.txt", sink="payments.txt")
    assert (sink.size(), sink.effects(), sink.torn()) == (0, [], 0)


def test_copies_are_matched_byte_for_byte() -> None:
    payment, *others = PAYMENTS

    def identity_of(entry: Entry, *, keyed: bool) -> tuple[str | None, str]:
        sink = CopiesTopic(None, topic="out", view="read_committed", keyed=keyed)  # type: ignore[arg-type]
        effect = sink._effect(entry, 0)
        return effect.record, effect.digest

    copy = logs.entry(0, key=payment.key, value=payment.value)
    wrong = replace(copy, value=payment.value + b" ")
    swapped = replace(copy, key=b"nobody")
    for subject, keyed in ((FileSource(), False), (MirrorSource(), True)):
        assert identity_of(copy, keyed=keyed) in list(subject.yields(PAYMENTS))
        assert identity_of(wrong, keyed=keyed) not in list(subject.yields(PAYMENTS))
    assert identity_of(swapped, keyed=True) not in list(MirrorSource().yields(PAYMENTS))
    assert identity_of(swapped, keyed=False) in list(FileSource().yields(PAYMENTS))
    assert identity_of(replace(copy, value=b"else"), keyed=False)[0] is None
    assert (others[0].record, digest(others[0].value)) in list(FileSink().yields(PAYMENTS))


# Subjects and workers.


def test_twin_differs_only_in_exactly_once_support() -> None:
    for kind in (FileSource, MirrorSource):
        exactly, twin = kind(), kind(exactly=False)
        assert twin.name == f"{exactly.name}-disabled"
        assert (exactly.atomic, twin.atomic) == (True, False)
        differ = {
            name
            for name, value in exactly.worker_settings.items()
            if twin.worker_settings[name] != value
        }
        assert differ == {"exactly.once.source.support"}
        assert "twin" in twin.says
    assert MirrorSource().sink == "origin.payments"
    assert not FileSink().atomic


def test_worker_properties_and_command(tmp_path: Path) -> None:
    WorkerTask(
        name="worker-1",
        bootstrap="127.1.2.3:9092",
        group="onceproof-workers",
        topic="payments",
        sink="out",
        commits="after",
        address="127.1.30.1:8084",
        settings={"offset.flush.interval.ms": 2000},
    ).save(tmp_path / "worker-1")
    written = dict(line.split("=", 1) for line in (tmp_path / "worker-1").read_text().splitlines())
    assert written == {
        "bootstrap.servers": "127.1.2.3:9092",
        "group.id": "onceproof-workers",
        "client.id": "worker-1",
        "listeners": "http://127.1.30.1:8084",
        "rest.advertised.host.name": "127.1.30.1",
        "rest.advertised.port": "8084",
        "offset.flush.interval.ms": "2000",
    }
    command = ConnectProgram(java=Path("java"), class_path="a/*:b/*").command(
        tmp_path / "jaas", Path("p")
    )
    assert f"-Djava.security.auth.login.config={(tmp_path / 'jaas').as_uri()}" in command
    assert command[-2:] == ["org.apache.kafka.connect.cli.ConnectDistributed", Path("p")]


class _Worker(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self._answer(200, {"tasks": [{"id": 0}]} if "/copy/" in self.path else [])

    def do_PUT(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        accepted = json.loads(body).get("topic") == "out"
        self._answer(201 if accepted else 409, {"message": "a rebalance is in process"})

    def _answer(self, status: int, content: Any) -> None:
        data = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        pass


@pytest.fixture
def worker() -> Iterator[str]:
    server = HTTPServer(("127.0.0.1", 0), _Worker)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def test_status_falls_back_to_the_next_worker(worker: str) -> None:
    rest = RestClient("Basic abc")
    assert rest.status(["127.0.0.1:1", worker], "copy") == {"tasks": [{"id": 0}]}
    assert rest.status(["127.0.0.1:1"], "copy") is None
    assert "ConnectionRefusedError" in rest.last_error


def test_create_keeps_the_error_of_a_refusal(worker: str) -> None:
    rest = RestClient("Basic abc")
    assert rest.create(worker, "copy", {"topic": "out"})
    assert not rest.create(worker, "copy", {})
    assert rest.last_error.endswith('409 {"message": "a rebalance is in process"}')


def test_login_keeps_credentials_private(tmp_path: Path) -> None:
    folder = tmp_path / 'a"b\\c'
    folder.mkdir()
    login, other = Login.new(folder), Login.new(tmp_path)
    users = folder / "connect-users"
    assert users.stat().st_mode & 0o777 == 0o600
    credentials = base64.b64decode(login.authorization.removeprefix("Basic ")).decode()
    assert users.read_text() == credentials.replace(":", ": ") + "\n"
    assert credentials not in login.jaas.read_text()
    assert login.authorization != other.authorization
