"""A lab controlled from other processes: faults by hand, heal, judgement and clean-up."""

from __future__ import annotations

import json
import shutil
import signal
import socket
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from onceproof.harness.lab.place import LabError, Place
from onceproof.harness.wait import wait_until
from onceproof.lab_client import ask
from tests.end_to_end.catalogue import LATER
from tests.end_to_end.command import Started, onceproof
from tests.end_to_end.test_ending import assert_nothing_remains

pytestmark = [pytest.mark.integration, pytest.mark.slow, pytest.mark.timeout(600)]

START_TIMEOUT = 200
"""Seconds for a lab to start and warm up its pipeline on a busy machine."""


GUARDED = ("spark-foreachbatch-postgres", "--seed", "3")


class Up:
    """A running lab."""

    def __init__(self, name: str, runs: Path, of: Sequence[str] = GUARDED) -> None:
        self.name = name
        self.process = Started("lab", *of, "--name", name, "--out", runs)
        self.process.wait_for("phase +disturb")
        self.place = wait_until(self._found, what="the lab to answer", seconds=START_TIMEOUT)

    def _found(self) -> Place | None:
        try:
            return Place.find(self.name)
        except LabError:
            return None

    def fault(self, name: str) -> dict[str, Any]:
        status = ask(self.place, "GET", "/status")
        return next(fault for fault in status["faults"] if fault["name"] == name)

    def wait_until_took_effect(self, name: str) -> None:
        wait_until(
            lambda: self.fault(name)["state"] == "took effect",
            what=f"{name} to take effect",
            seconds=90,
            every=0.3,
            seen=lambda: self.fault(name),
        )


@contextmanager
def up(kind: str, runs: Path, *, of: Sequence[str] = GUARDED) -> Iterator[Up]:
    """A lab that is killed at the end if it is still running."""
    lab = Up(f"{kind}-{runs.name[-20:]}".strip("-_"), runs, of=of)
    try:
        yield lab
    finally:
        if lab.process.popen.poll() is None:
            lab.process.send(signal.SIGKILL)
            lab.process.popen.wait(10)


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[Up]:
    with up("test", tmp_path) as lab:
        yield lab


@LATER
def test_faults_by_hand_are_applied_healed_and_judged(lab: Up, tmp_path: Path) -> None:
    by_name = ("--lab", lab.name)
    topic = ask(lab.place, "GET", "/")["topic"]

    done = onceproof("fault", "isolate", f"leader:{topic}-0", *by_name)
    assert (done.code, done.out.split(":")[0]) == (0, "isolate-1"), done.err
    lab.wait_until_took_effect("isolate-1")
    status = json.loads(onceproof("status", "--json", *by_name).out)
    assert len(status["links"]) == 4
    assert any(len(p["in_sync"]) == 2 for p in status["partitions"])
    shown = onceproof("status", *by_name).out
    assert "isolate-1: took effect: " in shown
    assert onceproof("heal", "isolate-1", *by_name).code == 0
    assert json.loads(onceproof("status", "--json", *by_name).out)["links"] == {}

    assert onceproof("fault", "lose-responses", f"leader:{topic}-1", *by_name).code == 0
    lab.wait_until_took_effect("lose-responses-1")
    assert onceproof("heal", *by_name).code == 0

    started = post(
        lab, "faults", {"fault": "kill", "arguments": ["driver", "--at", "after-sink-write"]}
    )
    assert started["state"] in ("armed", "took effect"), started
    lab.wait_until_took_effect("kill-1")
    assert onceproof("fault", "melt", *by_name).code == 2
    assert onceproof("heal", "kill-7", *by_name).code == 1
    steps = ["isolate-1", "lose-responses-1", "kill-1"]
    if node := shutil.which("node"):
        subprocess.run([node, script(tmp_path), lab.place.socket], check=True, timeout=240)
        steps += ["isolate-2", "kill-2"]
    else:
        assert onceproof("end", *by_name).code == 0

    done = lab.process.finish()
    assert done.code == 0, done.err
    assert set(done.verdicts().values()) == {"holds"}, done.out
    schedule = json.loads((done.folder / "run.json").read_text())["schedule"]
    assert [step["fault"] for step in schedule] == steps
    assert all(step["when"] == "by hand" for step in schedule)
    assert_nothing_remains(lab.process)
    assert not lab.place.folder.exists()


def test_killed_lab_leaves_nothing_and_unknown_verdicts(lab: Up) -> None:
    ask(lab.place, "POST", "/faults", {"fault": "kill", "arguments": ["broker-1"]})
    lab.process.send(signal.SIGKILL)
    lab.process.popen.wait(10)
    assert_nothing_remains(lab.process)
    wait_until(
        lambda: not lab.place.folder.exists(), what="the lab's socket to be gone", seconds=10
    )
    done = onceproof("status", "--lab", lab.name)
    assert done.code == 3
    assert f"no lab named '{lab.name}' is running" in done.err
    done = onceproof("check", lab.process.folder)
    assert done.code == 5, done.err
    assert set(done.verdicts().values()) == {"unknown"}


def post(lab: Up, path: str, body: dict[str, Any]) -> dict[str, Any]:
    """POST a request over the socket without our client."""
    text = json.dumps(body)
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(60)
        client.connect(str(lab.place.socket))
        client.sendall(
            f"POST /{path} HTTP/1.0\r\nContent-Length: {len(text)}\r\n\r\n{text}".encode()
        )
        answer = b"".join(iter(lambda: client.recv(4096), b""))
    found: dict[str, Any] = json.loads(answer.partition(b"\r\n\r\n")[2])
    return found


def script(folder: Path) -> Path:
    """The script shown on the protocol's page."""
    page = (Path(__file__).parents[2] / "docs/reference/lab.md").read_text()
    path = folder / "drive.mjs"
    path.write_text(page.partition("```js\n")[2].partition("```")[0])
    return path
