"""A bare lab: a user's program on a stage with faults by hand, without a verdict."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest
from confluent_kafka import Producer

from onceproof.harness.processes.processes import MARKER
from onceproof.harness.wait import wait_until
from onceproof.lab_client import ask
from tests.end_to_end.catalogue import MINUTES
from tests.end_to_end.command import onceproof
from tests.end_to_end.test_ending import assert_nothing_remains
from tests.end_to_end.test_lab import Up, up

pytestmark = [*MINUTES, pytest.mark.timeout(600)]

TOPIC = "shipped"


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[Up]:
    topics = ("--bare", "--topic", "ordered", "--topic", f"{TOPIC}:2")
    with up("bare", tmp_path, of=topics) as lab:
        yield lab


class Program:
    """A user's producer, which sends through the proxies until it is closed."""

    def __init__(self, bootstrap: str) -> None:
        self.acknowledged = 0
        self._stopped = threading.Event()
        self._producer = Producer({"bootstrap.servers": bootstrap, "acks": "all", "log_level": 0})
        self._thread = threading.Thread(target=self._send)
        self._thread.start()

    def _send(self) -> None:
        while not self._stopped.is_set():
            for partition in (0, 1):
                self._producer.produce(
                    TOPIC, b"mine", partition=partition, on_delivery=self._delivered
                )
            self._producer.poll(0.05)

    def _delivered(self, error: Any, message: Any) -> None:
        self.acknowledged += error is None

    def wait_until_progress(self) -> None:
        before = self.acknowledged
        wait_until(
            lambda: self.acknowledged > before + 10,
            what="the program to get records acknowledged",
            seconds=90,
            seen=lambda: f"{before}, then {self.acknowledged}",
        )

    def close(self) -> None:
        self._stopped.set()
        self._thread.join(20)


@contextmanager
def suspended(lab: Up, program: str) -> Iterator[None]:
    """Suspend all processes of the lab that run this program."""
    marker = f"{lab.process.popen.pid}-"
    found = [
        process
        for process in psutil.process_iter(["environ", "cmdline"])
        if (process.info["environ"] or {}).get(MARKER, "").startswith(marker)
        and any(program in word for word in process.info["cmdline"][:1])
    ]
    assert found
    for process in found:
        process.suspend()
    try:
        yield
    finally:
        for process in found:
            process.resume()


def test_bare_lab_applies_faults_and_judges_nothing(lab: Up) -> None:
    by_name = ("--lab", lab.name)
    about = ask(lab.place, "GET", "/")
    assert (about["topics"], about["claims"]) == ({"ordered": 1, TOPIC: 2}, [])
    program = Program(about["bootstrap"]["producer"])
    try:
        program.wait_until_progress()
        done = onceproof("fault", "kill", f"leader:{TOPIC}-1", *by_name)
        assert done.code == 0, done.err
        lab.wait_until_took_effect("kill-1")
        assert f"{TOPIC}-1 to broker-" in lab.fault("kill-1")["detail"]
        program.wait_until_progress()
        done = onceproof("heal", *by_name)
        assert (done.code, "kill-1: healed" in done.out) == (0, True), done.out + done.err
        done = onceproof("fault", "cut", "producer", f"leader:{TOPIC}-0", *by_name)
        assert done.code == 0, done.err
        lab.wait_until_took_effect("cut-1")
        assert lab.fault("cut-1")["detail"].endswith("closed, new ones refused")
        with suspended(lab, "toxiproxy"):
            done = onceproof("heal", "cut-1", *by_name)
            assert (done.code, "cut-1: failed: not healed: " in done.out) == (1, True), done.err
        done = onceproof("heal", "cut-1", *by_name)
        assert (done.code, "cut-1: healed" in done.out) == (0, True), done.out + done.err
        program.wait_until_progress()
        done = onceproof("fault", "kill", "driver", *by_name)
        assert (done.code, "needs «driver», which this lab does not offer" in done.err) == (1, True)
        status = ask(lab.place, "GET", "/status")
        assert (status["workload"], status["pipeline"], status["links"]) == (None, None, {})
        done = onceproof("end", *by_name)
        assert (done.code, "because it is bare" in done.out) == (0, True), done.err
        done = lab.process.finish()
    finally:
        program.close()
    assert done.code == 0, done.err
    assert "Nothing was judged" in done.out
    assert "holds" not in done.out
    assert (done.report["verdict"], done.report["claims"]) == (None, [])
    assert [(f["fault"], f["took_effect"]) for f in done.report["faults"]] == [
        ("kill-1", True),
        ("cut-1", True),
    ]
    cut = next(fault for fault in done.report["faults"] if fault["fault"] == "cut-1")
    assert cut["error"].startswith("not healed: ")
    assert cut["healed_at"] is not None
    assert_nothing_remains(lab.process)
    checked = onceproof("check", done.folder)
    assert (checked.code, "No claim was judged" in checked.out) == (5, True), checked.err
