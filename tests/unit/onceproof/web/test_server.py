"""The page's server over loopback: what it serves, and to whom."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from http import HTTPStatus
from http.client import HTTPConnection
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from onceproof.harness.clock import now
from onceproof.harness.history import events
from onceproof.harness.lab.protocol import LabProtocol, Refused
from onceproof.web.server import HOST, Web


class Lab:
    """A protocol that answers with what it was asked."""

    link = None

    def answer(self, method: str, path: str, body: dict[str, Any]) -> tuple[HTTPStatus, Any]:
        if path == "/refused":
            raise Refused(HTTPStatus.CONFLICT, "not now")
        return HTTPStatus.OK, {"asked": [method, path, body]}


@pytest.fixture
def web() -> Iterator[Web]:
    served = Web()
    yield served
    served.close()


def token_of(web: Web) -> str:
    return web.link().partition("#")[2]


def ask(
    web: Web, method: str, path: str, body: Any = None, **headers: str
) -> tuple[int, dict[str, Any]]:
    connection = HTTPConnection(HOST, web.port, timeout=30)
    try:
        text = None if body is None else json.dumps(body)
        connection.request(method, path, text, {k.replace("_", "-"): v for k, v in headers.items()})
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())
    finally:
        connection.close()


def session(web: Web) -> dict[str, str]:
    code, found = ask(web, "POST", "/session", {"token": token_of(web)})
    assert code == HTTPStatus.OK
    return {"Authorization": f"Bearer {found['session']}"}


def show_lab(web: Web) -> None:
    web.show_lab(cast("LabProtocol", Lab()))


def test_lab_is_controlled_with_a_session(web: Web) -> None:
    show_lab(web)
    own = session(web)
    assert ask(web, "GET", "/lab/status", **own) == (200, {"asked": ["GET", "/status", {}]})
    body = {"fault": "kill"}
    assert ask(web, "POST", "/lab/faults", body, **own)[1] == {"asked": ["POST", "/faults", body]}
    assert ask(web, "GET", "/lab/refused", **own) == (409, {"error": "not now"})


def test_nothing_is_told_without_a_session(web: Web) -> None:
    show_lab(web)
    for method, path in [
        ("GET", "/lab/status"),
        ("POST", "/lab/end"),
        ("GET", "/events"),
        ("GET", "/report"),
        ("POST", "/links"),
    ]:
        code, found = ask(web, method, path, Authorization="Bearer wrong")
        assert code == HTTPStatus.UNAUTHORIZED
        assert found.keys() == {"error"}


def test_wrong_token_begins_no_session(web: Web) -> None:
    for body in ({"token": "wrong"}, {"token": 1}, {}, {"token": ""}):
        assert ask(web, "POST", "/session", body)[0] == HTTPStatus.UNAUTHORIZED


def test_used_link_begins_no_second_session(web: Web) -> None:
    token = token_of(web)
    assert ask(web, "POST", "/session", {"token": token})[0] == HTTPStatus.OK
    assert ask(web, "POST", "/session", {"token": token})[0] == HTTPStatus.UNAUTHORIZED


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://other.example"},
        {"Host": "rebound.example"},
        {"Sec_Fetch_Site": "cross-site"},
    ],
)
def test_other_sites_get_nothing(web: Web, headers: dict[str, str]) -> None:
    show_lab(web)
    own = session(web)
    for path in ("/", "/lab.js", "/lab/status", "/events"):
        code, found = ask(web, "GET", path, **own, **headers)
        assert code == HTTPStatus.FORBIDDEN
        assert found.keys() == {"error"}


OTHER_USER = textwrap.dedent(
    """
    import encodings.idna, http.client, os, sys
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
    for path in ("/", "/lab/status"):
        connection = http.client.HTTPConnection("127.0.0.1", int(sys.argv[1]))
        connection.request("GET", path, headers={"Authorization": sys.argv[2]})
        answer = connection.getresponse()
        print(answer.status, answer.read().decode())
    """
)


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")
def test_other_user_gets_nothing_even_with_a_session(web: Web) -> None:
    show_lab(web)
    own = session(web)["Authorization"]
    found = subprocess.run(
        [sys.executable, "-c", OTHER_USER, str(web.port), own],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert [line.split()[0] for line in found.stdout.splitlines()] == ["403", "403"]
    assert "asked" not in found.stdout


def test_next_run_takes_no_orders_for_the_one_before(web: Web, tmp_path: Path) -> None:
    show_lab(web)
    own = session(web)
    assert ask(web, "GET", "/lab/status", **own)[0] == HTTPStatus.OK
    web.handler(
        events.RunStarted(at=now(), run="r", folder=tmp_path, scenario="s", title="t", seed=1)
    )
    assert ask(web, "GET", "/lab/status", **own)[0] == HTTPStatus.NOT_FOUND


def test_run_is_shown_without_control(web: Web) -> None:
    assert ask(web, "GET", "/lab/status", **session(web))[0] == HTTPStatus.NOT_FOUND


def test_bad_bodies_are_refused(web: Web) -> None:
    show_lab(web)
    own = session(web)
    for body, code in [("[]", 400), ("{", 400), ("[" * 50_000, 400), (" " * 70_000, 413)]:
        connection = HTTPConnection(HOST, web.port, timeout=30)
        connection.request("POST", "/lab/faults", body, own)
        assert connection.getresponse().status == code
        connection.close()


def test_page_files_may_load_nothing_from_elsewhere(web: Web) -> None:
    connection = HTTPConnection(HOST, web.port, timeout=30)
    for path in ("/", "/lab.js", "/lab.css", "/style.css", "/vendor/htm-preact.module.js"):
        connection.request("GET", path)
        answer = connection.getresponse()
        assert answer.status == HTTPStatus.OK
        assert answer.read()
        assert "default-src 'none'" in str(answer.getheader("Content-Security-Policy"))
    connection.close()


def test_pages_get_the_report_before_the_server_stops(web: Web, tmp_path: Path) -> None:
    own = session(web)
    report = tmp_path / "report.html"
    report.write_text("the report")
    stream = HTTPConnection(HOST, web.port, timeout=30)
    stream.request("GET", "/events", headers=own)
    following = stream.getresponse()
    web.handler(
        events.RunStarted(at=now(), run="r", folder=tmp_path, scenario="s", title="t", seed=1)
    )
    assert json.loads(following.readline())["event"] == "run-began"
    web.handler(events.ReportWritten(at=now(), html=report, json=report))
    assert json.loads(following.readline())["event"] == "report"

    read = HTTPConnection(HOST, web.port, timeout=30)
    read.request("GET", "/report", headers=own)
    assert read.getresponse().read() == b"the report"
    read.close()
    following.close()
    stream.close()
    web.exit_code = 0
    web.close()
    with pytest.raises(ConnectionRefusedError):
        ask(web, "GET", "/")


def test_state_is_looked_at_while_somebody_follows(web: Web) -> None:
    stage = SimpleNamespace(looks=0)

    class Counting(Lab):
        def answer(self, method: str, path: str, body: dict[str, Any]) -> tuple[HTTPStatus, Any]:
            stage.looks += 1
            return HTTPStatus.OK, {}

    web.show_lab(cast("LabProtocol", Counting()))
    stream = HTTPConnection(HOST, web.port, timeout=30)
    stream.request("GET", "/events", headers=session(web))
    state = json.loads(stream.getresponse().readline())
    assert (state["event"], state["status"], state["cluster"]) == ("state", {}, {})
    assert stage.looks >= 2
    stream.close()
