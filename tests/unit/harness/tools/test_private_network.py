"""The private network: listeners in it cannot be reached from outside."""

from __future__ import annotations

import socket
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from onceproof.cli import app
from onceproof.harness.tools.doctor import Status, check_private_network
from onceproof.harness.tools.private_network import trouble

_LISTENS = """
import os, socket, sys
from onceproof.harness.tools.private_network import enter_private_network
who, old = (os.geteuid(), os.getegid()), socket.socket()
if sys.argv[1] == "private":
    enter_private_network()
assert who == (os.geteuid(), os.getegid())
here = socket.socket()
here.bind(("127.99.99.99", 0))
here.listen()
socket.create_connection(here.getsockname()).close()
print(here.getsockname()[1], flush=True)
sys.stdin.read()
"""


@pytest.mark.skipif(trouble() is not None, reason=str(trouble()))
@pytest.mark.parametrize("network", ["shared", "private"])
def test_private_listener_is_unreachable_from_outside(network: str) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", _LISTENS, network],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        address = ("127.99.99.99", int(process.stdout.readline()))
        if network == "shared":
            socket.create_connection(address, 5).close()
        else:
            with pytest.raises(ConnectionRefusedError):
                socket.create_connection(address, 5)
        process.communicate()


def test_doctor_reports_whether_a_private_network_is_possible(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    expected = Status.OK if trouble() is None else Status.NOTE
    assert check_private_network().status is expected
    monkeypatch.setattr(
        "onceproof.harness.tools.private_network.trouble", lambda: "the system forbids it"
    )
    found = check_private_network()
    assert (found.status, found.detail) == (Status.NOTE, "the system forbids it")


def test_private_is_rejected_for_docker() -> None:
    done = CliRunner().invoke(app, ["run", "--private", "--backend", "docker"])
    assert done.exit_code == 2
    assert "--private works only with --backend local" in done.stderr
