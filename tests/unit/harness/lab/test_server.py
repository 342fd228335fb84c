"""A lab's control server: HTTP over a Unix socket."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onceproof.harness.lab import protocol, server
from onceproof.harness.lab.by_hand import ByHand, Ending
from onceproof.harness.lab.place import Place
from onceproof.harness.lab.protocol import LabProtocol
from onceproof.harness.lab.server import LabServer, may_drive
from onceproof.harness.links.topology import Link
from onceproof.harness.wait import wait_until
from onceproof.lab_client import LabRefused, LabUnavailable, ask
from tests.unit.fakes.stage import FakeStage
from tests.unit.harness.made_up import Fault, fail, world_in

STAGE = FakeStage(brokers=("broker-1",), open={Link("producer", "broker-1"): 1})
COMPLETE_REQUEST = b"POST /faults HTTP/1.1\r\nContent-Length: 16\r\n\r\n" + b'{"fault": "hit"}'
USERS = st.integers(0, 2**32 - 2)
MADE = {
    "hit": lambda: Fault(name="hit"),
    "miss": lambda: Fault(name="miss-1", on_inject=fail(RuntimeError("no leader"))),
}


NOTES: list[str] = []


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    original = protocol.asked
    monkeypatch.setattr(protocol, "asked", lambda n, w: MADE[n]() if n in MADE else original(n, w))
    (tmp_path / "history").mkdir()
    context = replace(world_in(tmp_path / "history").context, stage=STAGE)
    lab = ByHand(
        context,
        offered=frozenset(),
        opened=lambda _: None,
        noted=lambda _: None,
        write_note=NOTES.append,
    )
    thread = threading.Thread(target=_carry_out, args=(lab,))
    thread.start()
    place = Place.take("lab")
    answering = LabServer(place, LabProtocol(lab, {"lab": "lab", "seed": 5}))
    yield place
    answering.close()
    NOTES.clear()
    with suppress(Ending):
        lab.end(judge=True)
    thread.join(10)
    assert not thread.is_alive()


def _carry_out(lab: ByHand) -> None:
    lab.carry_out()


def test_index_describes_the_lab(place: Place) -> None:
    about = ask(place, "GET", "/")
    assert (about["lab"], about["seed"]) == ("lab", 5)
    assert about["bootstrap"]["producer"] == "producer.broker-1:9092"
    assert about["database"] == {"pipeline": "host=pipeline", "auditor": "host=auditor"}
    assert about["links"] == ["producer→broker-1"]


def test_kinds_lists_faults_with_their_arguments(place: Place) -> None:
    kinds = {kind["name"]: kind for kind in ask(place, "GET", "/kinds")}
    assert kinds["isolate"]["takes"] == ["TARGET"]


def test_fault_is_begun_and_healed(place: Place) -> None:
    begun = ask(place, "POST", "/faults", {"fault": "hit", "arguments": []})
    assert (begun["name"], begun["does"], begun["target"]) == (
        "hit-1",
        "do hit",
        "target of hit-1",
    )
    assert begun["state"] in ("injected", "took effect")
    assert ask(place, "POST", "/faults/hit-1/heal")["state"] == "healed"
    assert ask(place, "POST", "/heal") == []


def test_faults_report_whether_they_took_effect(place: Place) -> None:
    assert ask(place, "GET", "/faults") == []
    begun = ask(place, "POST", "/faults", {"fault": "hit", "arguments": ["broker-1"]})
    (found,) = ask(place, "GET", "/faults")
    assert (found["name"], type(found["took_effect"])) == (begun["name"], bool)


def test_arguments_are_optional(place: Place) -> None:
    assert ask(place, "POST", "/faults", {"fault": "hit"})["name"] == "hit-1"
    assert [fault["name"] for fault in ask(place, "POST", "/heal")] == ["hit-1"]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({}, "expected {"),
        ({"fault": 1}, "expected {"),
        ({"fault": "hit", "arguments": "broker-1"}, "expected {"),
        ({"fault": "hit", "arguments": [1]}, "expected {"),
        ({"fault": "melt"}, "unknown fault 'melt'"),
        ({"fault": "isolate", "arguments": ["x"]}, "invalid target 'x'"),
    ],
)
def test_malformed_fault_is_a_usage_error(place: Place, body: dict, message: str) -> None:  # type: ignore[type-arg]
    with pytest.raises(LabRefused, match=message) as refused:
        ask(place, "POST", "/faults", body)
    assert refused.value.usage


@pytest.mark.parametrize(
    ("method", "path", "message"),
    [
        ("POST", "/faults/hit-9/heal", "no active fault «hit-9»; active: none"),
        ("GET", "/nothing", "there is no GET /nothing"),
        ("POST", "/status", "there is no POST /status"),
    ],
)
def test_unknown_path_or_fault_is_refused(
    place: Place, method: str, path: str, message: str
) -> None:
    with pytest.raises(LabRefused, match=message) as refused:
        ask(place, method, path)
    assert not refused.value.usage


def test_failed_injection_is_refused(place: Place) -> None:
    with pytest.raises(LabRefused, match="miss-1: RuntimeError: no leader"):
        ask(place, "POST", "/faults", {"fault": "miss"})


def test_notes_are_recorded(place: Place) -> None:
    assert ask(place, "POST", "/notes", {"text": " the leader moved "}) == {
        "text": "the leader moved"
    }
    assert NOTES == ["the leader moved"]
    for body in ({}, {"text": " "}, {"text": 1}, {"text": "x" * 2001}):
        with pytest.raises(LabRefused) as refused:
            ask(place, "POST", "/notes", body)
        assert refused.value.usage
    assert len(NOTES) == 1


@pytest.mark.parametrize("messages", ["drop", "error:NOT_COORDINATOR"])
def test_decision_on_messages_needs_a_fault_that_holds_some(place: Place, messages: str) -> None:
    ask(place, "POST", "/faults", {"fault": "hit", "arguments": []})
    with pytest.raises(LabRefused, match="«hit-1» holds no message"):
        ask(place, "POST", "/faults/hit-1/heal", {"messages": messages})
    assert ask(place, "POST", "/faults/hit-1/heal", {"messages": "forward"})["state"] == "healed"


@pytest.mark.parametrize("messages", ["lose", "error", "error:", "error:NO_ERROR", 1])
def test_unknown_decision_is_a_usage_error(place: Place, messages: object) -> None:
    with pytest.raises(LabRefused, match="forward, drop or error:NAME") as refused:
        ask(place, "POST", "/faults/hit-1/heal", {"messages": messages})
    assert refused.value.usage


def test_lab_without_a_page_has_no_links(place: Place) -> None:
    with pytest.raises(LabRefused, match="--web"):
        ask(place, "POST", "/links")


def test_choices_name_what_the_lab_can_do(place: Place) -> None:
    choices = ask(place, "GET", "/choices")
    assert {"EndTxn", "Produce", "Fetch"} <= set(choices["API"])
    assert "NOT_COORDINATOR" in choices["errors"]
    kinds = {kind["name"]: kind for kind in ask(place, "GET", "/kinds")}
    assert not kinds["message"]["offered"], "this stage has no gates"
    assert kinds["take-over-id"]["offered"]


def test_end_requires_boolean_judge(place: Place) -> None:
    with pytest.raises(LabRefused, match="judge: expected true or false"):
        ask(place, "POST", "/end", {"judge": "perhaps"})
    assert ask(place, "POST", "/end") == {"judge": True}


def test_ending_lab_refuses_faults_and_a_second_end(place: Place) -> None:
    assert ask(place, "POST", "/end") == {"judge": True}
    for path, body in (("/end", {"judge": False}), ("/faults", {"fault": "hit"})):
        with pytest.raises(LabRefused, match="the lab is ending, with a verdict") as refused:
            ask(place, "POST", path, body)
        assert not refused.value.usage


def test_unexpected_error_is_hidden_only_while_the_lab_ends(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = fail(ZeroDivisionError("nothing to divide"))
    monkeypatch.setattr(protocol, "status", lambda context, lines: broken())
    with pytest.raises(LabRefused, match="ZeroDivisionError: nothing to divide"):
        ask(place, "GET", "/status")
    # Errors are expected while the lab is taken down, so they are not reported.
    ask(place, "POST", "/end")
    with pytest.raises(LabRefused, match=r"^the lab is ending$"):
        ask(place, "GET", "/status")


def exchange(place: Place, raw: bytes) -> tuple[int, dict[str, str]]:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
        client.settimeout(10)
        client.connect(str(place.socket))
        client.sendall(raw)
        client.shutdown(socket.SHUT_WR)
        answer = b"".join(iter(lambda: client.recv(65536), b""))
    head, _, body = answer.partition(b"\r\n\r\n")
    return int(head.split()[1]), json.loads(body)


@pytest.mark.parametrize(
    ("raw", "status", "error"),
    [
        (b"POST /faults HTTP/1.0\r\nContent-Length: 3\r\n\r\n{x}", 400, "not JSON"),
        (b"POST /faults HTTP/1.0\r\nContent-Length: 2\r\n\r\n[]", 400, "expected a JSON object"),
        (b"POST /faults HTTP/1.0\r\nContent-Length: 99999999\r\n\r\n", 413, "expected at most"),
        (b"POST /faults HTTP/1.0\r\nContent-Length: -1\r\n\r\n", 413, "expected at most"),
        (b"POST /faults HTTP/1.0\r\nContent-Length: x\r\n\r\n", 413, "expected at most"),
        (b"POST /faults HTTP/1.0\r\nContent-Length: 9\r\n\r\n{}", 400, "ended before 9 bytes"),
        (
            b"POST /faults HTTP/1.0\r\nContent-Length: 60000\r\n\r\n" + b"[" * 60_000,
            400,
            "not JSON",
        ),
        (
            b"POST /end HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
            411,
            "Content-Length",
        ),
        (b"GET /../../etc/passwd HTTP/1.0\r\n\r\n", 404, "there is no GET"),
        (b"DELETE /faults/hit-1 HTTP/1.1\r\n\r\n", 501, "Unsupported method ('DELETE')"),
        (b"POST /end please HTTP/1.1\r\n\r\n", 400, "Bad request syntax"),
        (b"GET /" + b"a" * 70_000 + b" HTTP/1.1\r\n\r\n", 414, "URI Too Long"),
    ],
)
def test_invalid_request_is_refused(place: Place, raw: bytes, status: int, error: str) -> None:
    code, found = exchange(place, raw)
    assert code == status
    assert error in found["error"]


def test_complete_request_is_carried_out_after_a_disconnect(
    place: Place, capfd: pytest.CaptureFixture[str]
) -> None:
    for raw in (
        b"",
        b"POST /fau",
        b"POST /faults HTTP/1.1\r\nContent-Length: 9\r\n\r\n{",
        COMPLETE_REQUEST,
    ):
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
            client.connect(str(place.socket))
            client.sendall(raw)
    # A complete request is carried out, and the next client can heal its fault.
    healed: list[str] = []
    wait_until(
        lambda: healed.extend(f["name"] for f in ask(place, "POST", "/heal")) or healed,
        what="the fault of the client that went away",
        seconds=20,
    )
    assert healed == ["hit-1"]
    assert capfd.readouterr().err == ""


def test_concurrent_clients_get_separate_faults(place: Place) -> None:
    found: list[str] = []
    ready = threading.Barrier(6)

    def drive() -> None:
        ready.wait(20)
        name = ask(place, "POST", "/faults", {"fault": "hit"})["name"]
        assert ask(place, "POST", f"/faults/{name}/heal")["state"] == "healed"
        found.append(name)

    clients = [threading.Thread(target=drive) for _ in range(6)]
    for client in clients:
        client.start()
    for client in clients:
        client.join(20)
    assert sorted(found) == [f"hit-{n}" for n in range(1, 7)]


@given(user=USERS, owner=USERS)
def test_only_the_owner_and_root_may_drive(user: int, owner: int) -> None:
    assert may_drive(user, owner=owner) == (user == owner or user == 0)
    assert may_drive(owner, owner=owner)
    assert may_drive(0, owner=owner)


ASK_AS = """
import os, socket, sys
os.chdir(sys.argv[1])  # while it still may
os.setuid(int(sys.argv[2]))
client = socket.socket(socket.AF_UNIX)
client.connect("control.sock")
client.sendall(b"GET / HTTP/1.0\\r\\n\\r\\n")
sys.stdout.write(client.recv(8).decode())
"""


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become somebody else")
@pytest.mark.parametrize(("user", "answer"), [(0, "HTTP/1.1"), (65534, "")])
def test_client_is_identified_by_its_peer_credentials(place: Place, user: int, answer: str) -> None:
    # Folder and socket let everybody in, so only the peer credentials decide.
    place.folder.chmod(0o711)
    place.socket.chmod(0o666)
    done = subprocess.run(
        [sys.executable, "-c", ASK_AS, place.folder, str(user)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == answer, done.stderr
    assert "PermissionError" not in done.stderr


def test_other_users_are_not_served(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    assert place.socket.stat().st_mode & 0o777 == 0o600
    uid = server.os.getuid()
    # Root is always served, so the server pretends to run as another user.
    monkeypatch.setattr(server.os, "getuid", lambda: uid + 1)
    monkeypatch.setattr(server, "ROOT", uid + 2)
    with pytest.raises(LabUnavailable, match="does not answer"):
        ask(place, "GET", "/")
