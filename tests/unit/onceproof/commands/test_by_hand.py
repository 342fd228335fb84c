"""The commands that drive a lab, with labs that are made up: what is said, and the exit code."""

from __future__ import annotations

import json
import socketserver
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from onceproof.commands import by_hand
from onceproof.harness.faults.by_hand import by_hand as faults
from onceproof.harness.lab.place import Place

Answer = tuple[int, Any]
STATUS = {
    "nodes": {"broker-1": "up"},
    "partitions": [],
    "links": {},
    "faults": [],
    "workload": None,
    "pipeline": None,
}
ENDING: Answer = (503, {"error": "the lab is ending"})
DRIVING: list[Callable[[str | None], int]] = [
    lambda lab: by_hand.fault("kill", ["broker-1"], lab=lab),
    lambda lab: by_hand.heal(None, lab=lab),
    lambda lab: by_hand.status(lab=lab, watch=False, as_json=False),
    lambda lab: by_hand.end(lab=lab, judge=True),
]


class MadeUp:
    """A lab that gives its answers one after the other, and is gone after the last."""

    def __init__(self, name: str, *answers: Answer) -> None:
        self.asked: list[str] = []
        left = list(answers)
        lab = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self._answer()

            def do_POST(self) -> None:
                self._answer()

            def _answer(self) -> None:
                self.rfile.read(int(self.headers.get("Content-Length", 0)))
                lab.asked.append(f"{self.command} {self.path}")
                code, found = left.pop(0)
                if not left:
                    lab.server.socket.close()
                text = json.dumps(found).encode()
                self.send_response(code)
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            def log_message(self, *_: object) -> None:
                pass

            def address_string(self) -> str:
                return "local"

        self.server = socketserver.UnixStreamServer(str(Place.take(name).socket), Handler)
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while self.server.socket.fileno() >= 0:
            try:
                self.server.handle_request()
            except (OSError, ValueError):
                return


@pytest.fixture
def up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., MadeUp]]:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    monkeypatch.setattr(by_hand, "_EVERY", 0)
    with ExitStack() as closing:

        def make(name: str, *answers: Answer) -> MadeUp:
            lab = MadeUp(name, *answers)
            closing.callback(lab.server.socket.close)
            return lab

        yield make


def left_with(drive: Callable[[], int]) -> object:
    try:
        return drive()
    except SystemExit as left:
        return left.code


@pytest.mark.parametrize("drive", DRIVING)
def test_when_no_lab_is_up(
    up: object, drive: Callable[[str | None], int], capsys: pytest.CaptureFixture[str]
) -> None:
    assert left_with(lambda: drive(None)) == 3
    assert capsys.readouterr() == (
        "",
        "onceproof: no lab is running; start one with `onceproof lab`\n",
    )
    assert left_with(lambda: drive("mine")) == 3
    assert capsys.readouterr() == (
        "",
        "onceproof: no lab named 'mine' is running; no lab is running\n",
    )


@pytest.mark.parametrize("drive", DRIVING)
def test_when_several_are_up(
    up: Callable[..., MadeUp],
    drive: Callable[[str | None], int],
    capsys: pytest.CaptureFixture[str],
) -> None:
    up("one", (200, STATUS))
    up("two", (200, STATUS))
    assert left_with(lambda: drive(None)) == 3
    said = "onceproof: 2 labs are running: one, two; choose one with --lab NAME\n"
    assert capsys.readouterr() == ("", said)


def test_a_watch_ends_with_its_lab(
    up: Callable[..., MadeUp], capsys: pytest.CaptureFixture[str]
) -> None:
    up("lab", (200, STATUS), ENDING, (200, STATUS), ENDING)
    assert left_with(lambda: by_hand.status(lab="lab", watch=True, as_json=False)) == 0
    text = capsys.readouterr().out
    assert text.count("broker-1 up") == 2
    assert text.endswith("the lab lab has ended\n")
    assert "\x1b" not in text


def test_a_lab_that_cannot_say(
    up: Callable[..., MadeUp], capsys: pytest.CaptureFixture[str]
) -> None:
    up("lab", (500, {"error": "ZeroDivisionError: nothing"}))
    assert left_with(lambda: by_hand.status(lab="lab", watch=True, as_json=False)) == 1
    assert capsys.readouterr().err == "onceproof: ZeroDivisionError: nothing\n"


@pytest.mark.parametrize(("state", "code"), [("healed", 0), ("failed", 1)])
def test_healing_says_what_it_saw(
    up: Callable[..., MadeUp], capsys: pytest.CaptureFixture[str], state: str, code: int
) -> None:
    up("lab", (200, {"name": "cut-1", "state": state, "detail": "what it saw"}))
    assert left_with(lambda: by_hand.heal("cut-1", lab="lab")) == code
    assert capsys.readouterr().out == f"cut-1: {state}: what it saw\n"


@pytest.mark.parametrize(
    ("claims", "judge", "said"),
    [(["a claim"], True, "is judged"), (["a claim"], False, "without"), ([], True, "is bare")],
)
def test_how_it_ends_is_told(
    up: Callable[..., MadeUp],
    capsys: pytest.CaptureFixture[str],
    claims: list[str],
    judge: bool,
    said: str,
) -> None:
    lab = up("lab", (200, {"claims": claims}), (202, {"judge": judge}))
    assert left_with(lambda: by_hand.end(lab="lab", judge=judge)) == 0
    assert said in capsys.readouterr().out
    assert lab.asked == ["GET /", "POST /end"]


@pytest.mark.parametrize("columns", [60, 100])
def test_without_a_name_all_faults_are_listed(
    columns: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    assert by_hand.fault(None, [], lab=None) == 0
    lines = capsys.readouterr().out.splitlines()
    for entry in faults().values():
        at = lines.index(entry.usage)
        told = " ".join(line.strip() for line in lines[at + 1 :])
        assert told.startswith(f"{entry.says} e.g. onceproof fault {entry.example}")
    usages = {entry.usage for entry in faults().values()}
    assert max(len(line) for line in lines if line not in usages) <= columns
