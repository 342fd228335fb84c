"""The HTTP service on a stage without brokers, and faults that hit it.

A program posts consecutive numbers, and repeats requests that were not answered.
"""

from __future__ import annotations

import contextlib
import json
import socket
import sys
import textwrap
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from http.client import HTTPConnection, HTTPException, RemoteDisconnected
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from onceproof.harness.context.run_context import RunContext
from onceproof.harness.faults.by_hand import asked
from onceproof.harness.http_service.rules import Rule
from onceproof.harness.http_service.settings import HttpSettings
from onceproof.harness.kafka.log_reader import LogReader
from onceproof.harness.links.disturbances import CUT
from onceproof.harness.links.topology import HTTP_SERVICE, Link
from onceproof.harness.processes.trouble import StageTrouble
from onceproof.harness.stage.alone import Alone, alone
from onceproof.harness.tools.setup import StageTools
from onceproof.harness.user_pipeline.command import keep_running
from onceproof.harness.user_pipeline.effects import ExpectedEffects
from onceproof.harness.user_pipeline.identity import Rule as Identity
from onceproof.harness.user_pipeline.look import Look
from onceproof.harness.user_pipeline.outputs.kind import OutputAccess
from onceproof.harness.user_pipeline.outputs.output import Output
from onceproof.harness.user_pipeline.program import Program
from onceproof.harness.user_pipeline.together import CombinedOutputs
from onceproof.harness.wait import Stop
from tests.integration.faults import active_fault, context
from tests.integration.staging import eventually, marked_processes

pytestmark = pytest.mark.integration
KEY = "Idempotency-Key"
LINK = Link("pipeline", HTTP_SERVICE)
OUTPUT = Output.parse("http:numbers", Identity.parse("json:$.id"))
PROGRAM = textwrap.dedent(
    """
    import http.client, json, sys, time

    place, file, keyed = sys.argv[1:]
    done = open(file, "a+")
    done.seek(0)
    n = len(done.readlines())
    while True:
        headers = {"Idempotency-Key": f"{file} {n}"} if keyed == "keyed" else {}
        connection = http.client.HTTPConnection(place, timeout=3)
        try:
            connection.request("POST", "/numbers", json.dumps({"id": f"n-{n}"}), headers)
            if connection.getresponse().status == 200:
                done.write(f"{n}\\n")
                done.flush()
                n += 1
                continue
        except (OSError, http.client.HTTPException) as error:
            print(repr(error), flush=True)
        finally:
            connection.close()
        time.sleep(0.1)
    """
)


@pytest.fixture(scope="module")
def up(tools: StageTools, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Alone]:
    settings = HttpSettings(paths=("numbers", "plain"), key=KEY)
    folder = tmp_path_factory.mktemp("http")
    with alone(folder, tools, brokers=0, http=settings) as running_stage:
        yield running_stage
        assert running_stage.stage.disturbed() == {}


def ask(place: str, body: Any, *, path: str = "/plain", method: str = "POST", **headers: str):
    connection = HTTPConnection(place, timeout=30)
    with contextlib.closing(connection):
        connection.request(method, path, body, {k.replace("_", "-"): v for k, v in headers.items()})
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())


def bodies(up: Alone) -> list[str]:
    return [each.body for each in up.stage.http_service().requests() if each.path == "/plain"]


def test_acknowledged_requests_survive_a_kill(up: Alone) -> None:
    place, before = up.stage.http_address, len(bodies(up))
    status, first = ask(place, "a", Idempotency_Key="one")
    assert (status, ask(place, "b")[0]) == (200, 200)
    assert "signal 9" in up.stage.kill(HTTP_SERVICE, "SIGKILL by a test")
    assert up.stage.disturbed()[HTTP_SERVICE] == "not running"
    with pytest.raises(ConnectionRefusedError):
        ask(place, "c")
    assert bodies(up)[before:] == ["a", "b"], "it is read past the service"
    up.stage.restart(HTTP_SERVICE)
    assert ask(place, "a", idempotency_key="one") == (200, first)
    assert ask(place, "c")[1]["number"] == len(up.stage.http_service().requests())
    assert bodies(up)[before:] == ["a", "b", "c"]


def test_accepts_chunked_body_and_drops_truncated_bodies(up: Alone) -> None:
    place, before = up.stage.http_address, len(bodies(up))
    assert ask(place, iter([b"in ", b"chunks"]))[0] == 200
    host, port = place.split(":")
    for truncated in (
        b"Content-Length: 9\r\n\r\nshort",
        b"Transfer-Encoding: chunked\r\n\r\n5\r\nshort\r\n",
        b"Transfer-Encoding: chunked\r\n\r\n5\r\nlonger than it says\r\n0\r\n\r\n",
    ):
        with socket.create_connection((host, int(port)), 30) as connection:
            connection.sendall(b"POST /plain HTTP/1.1\r\nHost: x\r\n" + truncated)
            connection.shutdown(socket.SHUT_WR)
            assert connection.recv(100) == b"", "nothing is acknowledged"
    assert bodies(up)[before:] == ["in chunks"]


def test_clients_connect_through_the_link(up: Alone) -> None:
    hold = up.stage.disturb(LINK, CUT)
    with pytest.raises(ConnectionRefusedError):
        ask(up.stage.http_address, "x")
    assert up.stage.http_service().answers()
    hold.release()
    assert ask(up.stage.http_address, "x", path="/elsewhere")[0] == 404


@pytest.mark.parametrize(
    ("fault", "proof"),
    [
        ("kill http-service", "ended by signal 9; connections that bypass the proxies"),
        ("stop http-service", "ended with status 0; connections that bypass the proxies"),
        ("pause http-service", "a new connection gets no answer"),
        ("lose-answers pipeline http-service", "was not answered within 1 s"),
        ("delay pipeline http-service responses 200 20", "an answer took"),
        ("cut pipeline http-service", "new ones refused"),
    ],
)
def test_fault_of_service_or_link_takes_effect_and_heals(up: Alone, fault: str, proof: str) -> None:
    host, port = up.stage.http_address.split(":")
    with socket.create_connection((host, int(port))):
        with active_fault(context(up.stage), fault) as (_, evidence):
            assert proof in evidence
        assert ask(up.stage.http_address, "x")[0] == 200
    assert up.stage.disturbed() == {}


def test_rule_ends_with_the_service_process(up: Alone) -> None:
    service = up.stage.http_service()
    with service.acting(Rule(carry_out=True, answer="none", times=1)) as rule:
        other = service.acting(Rule(carry_out=False, answer="unavailable"))
        with pytest.raises(StageTrouble, match="another fault"), other:
            pass
        with pytest.raises((RemoteDisconnected, HTTPException)):
            ask(up.stage.http_address, "unheard")
        assert rule.met()[0].number == len(service.requests())
        up.stage.kill(HTTP_SERVICE, "SIGKILL by a test")
        with pytest.raises(StageTrouble):
            rule.met()
        up.stage.restart(HTTP_SERVICE)
    assert ask(up.stage.http_address, "x")[0] == 200


class Poster:
    """The running program."""

    def __init__(self, up: Alone, folder: Path, keyed: str) -> None:
        self._up, self._accepted = up, folder / "told"
        self._before = len(self._all())
        where = OutputAccess(
            database="", reader=cast("LogReader", None), work=up.processes.logs.parent / "work"
        )
        look = Look(
            topics=("none",),
            groups=None,  # type: ignore[arg-type]
            reader=lambda: contextlib.nullcontext(cast("LogReader", None)),
            sink=lambda _: CombinedOutputs([OUTPUT.open(where, ExpectedEffects())]),
            sent=(),
            required=(),
        )
        command = [sys.executable, "-c", PROGRAM, up.stage.http_address, str(self._accepted), keyed]
        supervisor = keep_running(
            f"poster-{keyed}",
            command,
            processes=up.processes,
            environment={},
            folder=folder,
            progress=look.size,
        )
        self.program = Program(supervisor, look, Stop())

    @property
    def context(self) -> RunContext:
        made = context(self._up.stage, "none", self.program)
        producers = SimpleNamespace(acknowledged=0, finished=False)
        return replace(made, producers=producers)  # type: ignore[arg-type]

    def accepted(self) -> int:
        """The number of numbers that the program knows to be accepted."""
        return len(self._accepted.read_text().splitlines())

    def effects(self) -> Counter[str]:
        return Counter(json.loads(body)["id"] for body in self._all()[self._before :])

    def _all(self) -> list[str]:
        requests = self._up.stage.http_service().requests()
        return [each.body for each in requests if each.path == "/numbers"]


@contextlib.contextmanager
def posting(up: Alone, folder: Path, keyed: str) -> Iterator[Poster]:
    poster = Poster(up, folder, keyed)
    try:
        poster.program.start()
        eventually(poster.effects, "its first request")
        yield poster
    finally:
        poster.program.supervisor.close()
        with contextlib.suppress(Exception):
            poster.program.kill("the test is over")


@pytest.mark.parametrize("keyed", ["keyed", "plain"])
@pytest.mark.parametrize(
    ("fault", "proof", "landed"),
    [
        ("strike-http kill-landed", "ended by signal 9, at POST /numbers, carried out as", True),
        ("strike-http kill-undone", "ended by signal 9, at POST /numbers, not carried out", False),
        ("strike-http kill-refused", "ended by signal 9, at POST /numbers, not carried out", False),
        ("strike-http cut-landed", "closed instead of answering POST /numbers, carr", True),
        ("strike-http cut-undone", "closed instead of answering POST /numbers, not", False),
    ],
)
def test_unanswered_request_is_duplicated_only_without_key(
    up: Alone, tmp_path: Path, fault: str, proof: str, landed: bool, keyed: str
) -> None:
    with posting(up, tmp_path, keyed) as poster:
        name, *arguments = fault.split()
        injection = asked(name, arguments).inject(poster.context, name)
        assert proof in eventually(injection.evidence, fault)
        assert poster.program.alive() is ("kill" not in fault)
        injection.heal()
        before = poster.accepted()
        eventually(lambda: poster.accepted() > before + 2, "it to go on")
    effects, accepted = poster.effects(), poster.accepted()
    assert set(effects) >= {f"n-{n}" for n in range(accepted)}
    duplicated = [name for name, times in effects.items() if times > 1]
    assert len(duplicated) == (landed and keyed == "plain"), duplicated


@pytest.mark.parametrize(
    ("act", "evidence"),
    [("refuse", "answered 503 to POST"), ("slow", "answered up to 4 s late to")],
)
def test_only_slow_answers_lead_to_duplicates(
    up: Alone, tmp_path: Path, act: str, evidence: str
) -> None:
    with posting(up, tmp_path, "plain") as poster:
        fault = replace(cast("Any", asked("strike-http", [act])), seconds=4.0)
        injection = fault.inject(poster.context, "x")
        assert evidence in injection.evidence()
        injection.heal()
        before = poster.accepted()
        eventually(lambda: poster.accepted() > before + 2, "it to go on")
    duplicated = [name for name, times in poster.effects().items() if times > 1]
    assert bool(duplicated) is (act == "slow"), "it waits for 3 s for an answer"


def test_stage_leaves_no_processes(tools: StageTools, tmp_path: Path) -> None:
    with alone(
        tmp_path / "run", tools, brokers=0, http=HttpSettings(paths=("a",))
    ) as running_stage:
        marker = running_stage.processes.marker
        assert marked_processes(marker)
    assert marked_processes(marker) == {}
