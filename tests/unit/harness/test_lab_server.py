"""A lab's control as a program meets it: HTTP over a Unix socket."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from harness.lab import server as module
from harness.lab.by_hand import ByHand
from harness.lab.client import LabRefused, ask
from harness.lab.place import LabTrouble, Place
from harness.lab.server import LabServer
from harness.stage.topology import Link
from tests.unit.harness.made_up import Fault, fail, world_in

STAGE = SimpleNamespace(
    bootstrap=lambda audience: f"{audience}:9092",
    database=lambda audience: f"host={audience}",
    links=lambda: (Link("producer", "broker-1"),),
)
MADE = {
    "hit": lambda: Fault(name="hit-1"),
    "miss": lambda: Fault(name="miss-1", on_inject=fail(RuntimeError("no leader"))),
}


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    known = module.asked
    monkeypatch.setattr(module, "asked", lambda n, w: MADE[n]() if n in MADE else known(n, w))
    (tmp_path / "history").mkdir()
    bench = replace(world_in(tmp_path / "history").bench, stage=STAGE)  # type: ignore[arg-type]
    lab = ByHand(bench, opened=lambda _: None, noted=lambda _: None)
    kept = threading.Thread(target=_kept, args=(lab,))
    kept.start()
    place = Place.take("lab")
    server = LabServer(place, lab, {"lab": "lab", "seed": 5})
    yield place
    server.close()
    lab.end(judge=True)
    kept.join(10)
    assert not kept.is_alive()


def _kept(lab: ByHand) -> None:
    lab.carry_out()


def test_what_it_is(place: Place) -> None:
    about = ask(place, "GET", "/")
    assert (about["lab"], about["seed"]) == ("lab", 5)
    assert about["bootstrap"]["producer"] == "producer:9092"
    assert about["database"] == {"pipeline": "host=pipeline", "auditor": "host=auditor"}
    assert about["links"] == ["producer→broker-1"]


def test_which_faults_there_are(place: Place) -> None:
    kinds = {kind["name"]: kind for kind in ask(place, "GET", "/kinds")}
    assert kinds["isolate"]["takes"] == ["TARGET"]


def test_a_fault_and_its_healing(place: Place) -> None:
    begun = ask(place, "POST", "/faults", {"fault": "hit", "arguments": []})
    assert (begun["name"], begun["does"], begun["target"]) == (
        "hit-1",
        "do hit-1",
        "target of hit-1",
    )
    assert begun["state"] in ("injected", "bit")
    assert ask(place, "POST", "/faults/hit-1/heal")["state"] == "healed"
    assert ask(place, "POST", "/heal") == []


def test_arguments_may_be_left_out(place: Place) -> None:
    assert ask(place, "POST", "/faults", {"fault": "hit"})["name"] == "hit-1"
    assert [fault["name"] for fault in ask(place, "POST", "/heal")] == ["hit-1"]


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({}, "expected {"),
        ({"fault": 1}, "expected {"),
        ({"fault": "hit", "arguments": "broker-1"}, "expected {"),
        ({"fault": "hit", "arguments": [1]}, "expected {"),
        ({"fault": "melt"}, "there is no fault «melt»"),
        ({"fault": "isolate", "arguments": ["x"]}, "'x' is no target"),
    ],
)
def test_what_cannot_be_understood(place: Place, body: dict, said: str) -> None:  # type: ignore[type-arg]
    with pytest.raises(LabRefused, match=said) as refused:
        ask(place, "POST", "/faults", body)
    assert refused.value.usage


@pytest.mark.parametrize(
    ("method", "path", "said"),
    [
        ("POST", "/faults/hit-9/heal", "no fault «hit-9» is at work; at work: none"),
        ("GET", "/nothing", "there is no GET /nothing"),
        ("POST", "/status", "there is no POST /status"),
    ],
)
def test_what_is_not_there(place: Place, method: str, path: str, said: str) -> None:
    with pytest.raises(LabRefused, match=said) as refused:
        ask(place, method, path)
    assert not refused.value.usage


def test_what_could_not_act(place: Place) -> None:
    with pytest.raises(LabRefused, match="miss-1: RuntimeError: no leader"):
        ask(place, "POST", "/faults", {"fault": "miss"})


def test_judge_is_true_or_false(place: Place) -> None:
    with pytest.raises(LabRefused, match="judge: expected true or false"):
        ask(place, "POST", "/end", {"judge": "perhaps"})
    assert ask(place, "POST", "/end") == {"judge": True}


def said(place: Place, raw: bytes) -> tuple[int, dict[str, str]]:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
        client.settimeout(10)
        client.connect(str(place.socket))
        client.sendall(raw)
        answer = b""
        while part := client.recv(65536):
            answer += part
    head, _, body = answer.partition(b"\r\n\r\n")
    return int(head.split()[1]), json.loads(body)


@pytest.mark.parametrize(
    ("raw", "status", "error"),
    [
        (b"POST /faults HTTP/1.0\r\nContent-Length: 3\r\n\r\n{x}", 400, "not JSON"),
        (b"POST /faults HTTP/1.0\r\nContent-Length: 2\r\n\r\n[]", 400, "expected a JSON object"),
        (b"POST /faults HTTP/1.0\r\nContent-Length: 99999999\r\n\r\n", 413, "expected at most"),
        (b"POST /faults HTTP/1.0\r\nContent-Length: -1\r\n\r\n", 413, "expected at most"),
        (b"GET /../../etc/passwd HTTP/1.0\r\n\r\n", 404, "there is no GET"),
    ],
)
def test_requests_that_are_none(place: Place, raw: bytes, status: int, error: str) -> None:
    code, found = said(place, raw)
    assert code == status
    assert error in found["error"]


def test_nobody_else_is_served(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    assert place.socket.stat().st_mode & 0o777 == 0o600
    mine = module.os.getuid()
    # Root is always let in, so to be somebody else the server has to be.
    monkeypatch.setattr(module.os, "getuid", lambda: mine + 1)
    monkeypatch.setattr(module, "ROOT", mine + 2)
    with pytest.raises(LabTrouble, match="does not answer"):
        ask(place, "GET", "/")
