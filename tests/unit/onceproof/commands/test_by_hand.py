"""Commands that drive a lab, against fake labs: output and exit codes."""

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
    lambda lab: by_hand.heal(None, messages=None, lab=lab),
    lambda lab: by_hand.status(lab=lab, watch=False, as_json=False),
    lambda lab: by_hand.end(lab=lab, judge=True),
]


class FakeLab:
    """A lab that gives its answers in order, and is gone after the last."""

    def __init__(self, name: str, *answers: Answer) -> None:
        self.requests: list[str] = []
        remaining = list(answers)
        lab = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self._answer()

            def do_POST(self) -> None:
                self._answer()

            def _answer(self) -> None:
                self.rfile.read(int(self.headers.get("Content-Length", 0)))
                lab.requests.append(f"{self.command} {self.path}")
                code, found = remaining.pop(0)
                if not remaining:
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
def start_lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., FakeLab]]:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    monkeypatch.setattr(by_hand, "_EVERY", 0)
    with ExitStack() as closing:

        def make(name: str, *answers: Answer) -> FakeLab:
            lab = FakeLab(name, *answers)
            closing.callback(lab.server.socket.close)
            return lab

        yield make


def exit_code_of(drive: Callable[[], int]) -> object:
    try:
        return drive()
    except SystemExit as error:
        return error.code


@pytest.mark.parametrize("drive", DRIVING)
def test_commands_fail_without_a_lab(
    start_lab: object, drive: Callable[[str | None], int], capsys: pytest.CaptureFixture[str]
) -> None:
    assert exit_code_of(lambda: drive(None)) == 3
    assert capsys.readouterr() == (
        "",
        "onceproof: no lab is running; start one with `onceproof lab`\n",
    )
    assert exit_code_of(lambda: drive("mine")) == 3
    assert capsys.readouterr() == (
        "",
        "onceproof: no lab named 'mine' is running; no lab is running\n",
    )


@pytest.mark.parametrize("drive", DRIVING)
def test_several_labs_require_a_name(
    start_lab: Callable[..., FakeLab],
    drive: Callable[[str | None], int],
    capsys: pytest.CaptureFixture[str],
) -> None:
    start_lab("one", (200, STATUS))
    start_lab("two", (200, STATUS))
    assert exit_code_of(lambda: drive(None)) == 3
    message = "onceproof: 2 labs are running: one, two; choose one with --lab NAME\n"
    assert capsys.readouterr() == ("", message)


def test_watch_ends_with_the_lab(
    start_lab: Callable[..., FakeLab], capsys: pytest.CaptureFixture[str]
) -> None:
    start_lab("lab", (200, STATUS), ENDING, (200, STATUS), ENDING)
    assert exit_code_of(lambda: by_hand.status(lab="lab", watch=True, as_json=False)) == 0
    text = capsys.readouterr().out
    assert text.count("broker-1 up") == 2
    assert text.endswith("the lab lab has ended\n")
    assert "\x1b" not in text


def test_error_of_the_lab_ends_the_watch(
    start_lab: Callable[..., FakeLab], capsys: pytest.CaptureFixture[str]
) -> None:
    start_lab("lab", (500, {"error": "ZeroDivisionError: nothing"}))
    assert exit_code_of(lambda: by_hand.status(lab="lab", watch=True, as_json=False)) == 1
    assert capsys.readouterr().err == "onceproof: ZeroDivisionError: nothing\n"


@pytest.mark.parametrize(("state", "code"), [("healed", 0), ("failed", 1)])
def test_heal_prints_its_result(
    start_lab: Callable[..., FakeLab], capsys: pytest.CaptureFixture[str], state: str, code: int
) -> None:
    start_lab("lab", (200, {"name": "cut-1", "state": state, "detail": "what it saw"}))
    assert exit_code_of(lambda: by_hand.heal("cut-1", messages=None, lab="lab")) == code
    assert capsys.readouterr().out == f"cut-1: {state}: what it saw\n"


@pytest.mark.parametrize(
    ("claims", "judge", "message"),
    [(["a claim"], True, "is judged"), (["a claim"], False, "without"), ([], True, "is bare")],
)
def test_end_says_whether_the_run_is_judged(
    start_lab: Callable[..., FakeLab],
    capsys: pytest.CaptureFixture[str],
    claims: list[str],
    judge: bool,
    message: str,
) -> None:
    lab = start_lab("lab", (200, {"claims": claims}), (202, {"judge": judge}))
    assert exit_code_of(lambda: by_hand.end(lab="lab", judge=judge)) == 0
    assert message in capsys.readouterr().out
    assert lab.requests == ["GET /", "POST /end"]


@pytest.mark.parametrize("columns", [60, 100])
def test_faults_are_listed_without_a_name(
    columns: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    assert by_hand.fault(None, [], lab=None) == 0
    lines = capsys.readouterr().out.splitlines()
    for entry in faults().values():
        at = lines.index(entry.usage)
        description = " ".join(line.strip() for line in lines[at + 1 :])
        assert description.startswith(f"{entry.says} e.g. onceproof fault {entry.example}")
    usages = {entry.usage for entry in faults().values()}
    assert max(len(line) for line in lines if line not in usages) <= columns
