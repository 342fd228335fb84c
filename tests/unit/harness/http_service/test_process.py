"""The HTTP service as a process: it ends when asked to, whatever its threads are doing."""

from __future__ import annotations

import json
import socket
import subprocess
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path

import pytest

from onceproof.harness.links.blocks import free_ports, take_block
from onceproof.harness.processes.python import python_module
from onceproof.harness.wait import wait_until


@pytest.fixture
def places() -> Iterator[tuple[str, int, int]]:
    block = take_block()
    host = block.address(1, 1)
    port = free_ports([host], count=2)
    yield host, port, port + 1
    block.release()


@pytest.mark.parametrize("repetition", range(10))
def test_ends_on_sigterm_while_clients_are_connected(
    places: tuple[str, int, int], tmp_path: Path, repetition: int
) -> None:
    host, clients, control = places
    settings = json.dumps({"paths": ["numbers"], "key": None})
    service = python_module(
        "onceproof.harness.http_service",
        *(f"{host}:{clients}", f"{host}:{control}", str(tmp_path / "log"), settings),
    )

    def answers() -> bool:
        connection = HTTPConnection(host, control, timeout=30)
        try:
            connection.request("GET", "/")
            return connection.getresponse().status == 200
        except ConnectionRefusedError:
            return False
        finally:
            connection.close()

    process = subprocess.Popen(service)
    try:
        wait_until(answers, what="its control address to answer", seconds=30)
        # A thread that has just begun is the one that the signal may interrupt.
        with socket.create_connection((host, clients)), socket.create_connection((host, clients)):
            process.terminate()
            assert process.wait(timeout=30) == 0
    finally:
        process.kill()
        process.wait()
