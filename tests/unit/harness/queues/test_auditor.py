"""The queue auditor and its process, which may fail, hang or exit."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from itertools import repeat

import pytest

from onceproof.harness.history.identity import ATTEMPT_HEADER, RECORD_HEADER
from onceproof.harness.processes.processes import Process, Processes
from onceproof.harness.queues import auditor as module
from onceproof.harness.queues import log as queue_log
from onceproof.harness.queues.auditor import Counts, Message, QueueAuditor, QueueTrouble
from onceproof.harness.queues.log import QueueLog

PROGRAM = """
import json, sys
for line in sys.stdin:
    word, *rest = line.split()
    if rest == ["payments", "payments.audit"]:
        for n in range(3):
            said = {"onceproof_record": f"r{n}", "onceproof_attempt": "a", "onceproof_key": "k"}
            print(json.dumps({"value": "v" * 70000, "properties": said}))
        print(json.dumps({"value": None, "properties": {"order": "o"}}))
        print(json.dumps({"end": 4}), flush=True)
    elif word == "counts" and rest[0].startswith("payments"):
        print(json.dumps({"messageCount": 4, "deliveringCount": 1, "consumerCount": 2}))
        print(json.dumps({"end": 1}), flush=True)
    elif word == "delivering" and rest[0] == "payments":
        print(json.dumps({"record": "r0"}))
        print(json.dumps({"record": "r2"}))
        print(json.dumps({"end": 2}), flush=True)
    elif rest[0] == "nothing":
        print(json.dumps({"error": "there is no such queue"}), flush=True)
    elif rest[0] == "ends":
        sys.exit("of its own accord")
"""


@pytest.fixture
def started() -> list[Process]:
    return []


@pytest.fixture
def auditor(processes: Processes, started: list[Process]) -> QueueAuditor:
    def start() -> Process:
        command = [sys.executable, "-I", "-S", "-c", PROGRAM]
        started.append(processes.start("queue-auditor", command, pipes=True))
        return started[-1]

    return QueueAuditor(start, product="artemis")


def test_log_returns_every_message_in_order(auditor: QueueAuditor, started: list[Process]) -> None:
    assert not started, "it is started when it is first asked"
    found = auditor.log("payments")
    records = [message.properties.get("onceproof_record") for message in found]
    assert records == ["r0", "r1", "r2", None]
    assert found[0].value == "v" * 70000
    assert found[3] == Message(value=None, properties={"order": "o"})
    assert len(started) == 1


def test_counts_messages_deliveries_and_consumers(auditor: QueueAuditor) -> None:
    assert auditor.counts("payments") == Counts(messages=4, delivering=1, consumers=2)
    assert auditor.sent("payments") == 4


def test_delivering_returns_unacknowledged_records(auditor: QueueAuditor) -> None:
    assert auditor.delivering("payments") == {"r0", "r2"}


def test_requests_are_counted_by_the_names_of_connections(
    auditor: QueueAuditor, started: list[Process]
) -> None:
    assert auditor.requests("payments", "forwarder-0") is None
    assert not started, "nobody has to be asked"


def test_unknown_queue_is_refused(auditor: QueueAuditor) -> None:
    with pytest.raises(QueueTrouble, match="counts nothing: there is no such queue"):
        auditor.counts("nothing")
    assert auditor.sent("payments") == 4, "it goes on answering"


def test_exited_process_is_restarted(auditor: QueueAuditor, started: list[Process]) -> None:
    with pytest.raises(QueueTrouble, match="ended; last log lines: of its own accord"):
        auditor.counts("ends")
    assert auditor.sent("payments") == 4
    assert len(started) == 2


def test_hung_process_is_killed_and_restarted(
    auditor: QueueAuditor, started: list[Process], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert auditor.sent("payments") == 4
    monkeypatch.setattr(module, "_SECONDS", 0.2)
    with pytest.raises(QueueTrouble, match=r"no answer in 0\.2 s"):
        auditor.counts("silence")
    assert not started[0].leader_alive()
    monkeypatch.undo()
    assert auditor.sent("payments") == 4, "another one answers"


@pytest.mark.parametrize("start", [0, 2])
def test_queue_log_reads_an_address(auditor: QueueAuditor, start: int) -> None:
    log = QueueLog(auditor, "payments").read(start)
    assert (log.log_start, log.last_stable_offset, log.high_watermark) == (0, 4, 4)
    assert [entry.offset for entry in log.entries] == list(range(start, 4))
    assert all(log.committed())
    *_, known, nameless = log.entries
    assert known.headers.items() >= {RECORD_HEADER: b"r2", ATTEMPT_HEADER: b"a"}.items()
    assert known.headers["onceproof_record"] == b"r2"  # for identity rules that name the property
    assert (known.key, nameless.headers, nameless.value) == (b"k", {"order": b"o"}, None)
    assert QueueLog(auditor, "payments").end() == 4


def test_read_waits_for_every_sent_message(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queue_log, "_SECONDS", 0.2)

    class Short(QueueAuditor):
        """Reports four messages sent, and returns the given numbers of them."""

        def __init__(self, lengths: Iterable[int]) -> None:
            self._lengths = iter(lengths)

        def sent(self, address: str) -> int:
            return 4

        def log(self, address: str) -> list[Message]:
            return [Message(value="v", properties={})] * next(self._lengths)

    with pytest.raises(QueueTrouble, match="payments: found 3 messages, expected at least 4"):
        QueueLog(Short(repeat(3)), "payments").read()
    late = QueueLog(Short([3, 4]), "payments").read()
    assert late.high_watermark == 4, "it may be late"
