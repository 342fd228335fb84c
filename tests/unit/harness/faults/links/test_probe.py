"""Probe connections on a link to a fake broker."""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from onceproof.harness.faults.links.probe import Probe, undisturbed
from onceproof.harness.faults.links.silence import Silence
from onceproof.harness.links.topology import Link
from onceproof.harness.processes.trouble import StageTrouble
from tests.unit.fakes.stage import FakeStage

LINK = Link("producer", "broker-1")
Serve = Callable[[Callable[[socket.socket], None]], Any]


class SingleEntranceStage(FakeStage):
    """A stage whose links share one entrance."""

    def __init__(self, address: str) -> None:
        super().__init__()
        self.address = address

    def entrance(self, link: Link) -> str:
        return self.address


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Makes a stage whose link leads to a server with the given behaviour."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        host, port = listener.getsockname()

        def make(behave: Callable[[socket.socket], None]) -> Any:
            def accept() -> None:
                while True:
                    try:
                        connection, _ = listener.accept()
                    except OSError:
                        return
                    with connection, contextlib.suppress(ConnectionError):
                        behave(connection)

            threading.Thread(target=accept, daemon=True).start()
            return SingleEntranceStage(f"{host}:{port}")

        yield make
        listener.shutdown(socket.SHUT_RDWR)


def answer_requests(*, times: int, with_bytes: int = 9) -> Callable[[socket.socket], None]:
    """Answers this many Kafka requests, then only reads."""

    def behave(connection: socket.socket) -> None:
        remaining = times
        while head := connection.recv(4, socket.MSG_WAITALL):
            connection.recv(struct.unpack(">i", head)[0], socket.MSG_WAITALL)
            if remaining:
                connection.sendall(struct.pack(">i", with_bytes) + b"x" * with_bytes)
            remaining -= bool(remaining)

    return behave


def test_ask_counts_sent_and_received_bytes(serve: Serve) -> None:
    with Probe(serve(answer_requests(times=10)), LINK) as probe:
        single = probe.ask()
        assert (single.sent, single.received) == (probe.length(), 13)
        several = probe.ask(more=50, times=3)
        assert (several.sent, several.received) == (3 * (probe.length() + 50), 39)


def test_silence_is_detected_and_requires_the_held_answer(serve: Serve) -> None:
    silence = Silence(delivered=True)
    with undisturbed(serve(answer_requests(times=1)), LINK) as probe:
        evidence = silence.met(probe)
        assert evidence is not None
        assert "was not answered within 1 s" in evidence
        probe._socket.shutdown(socket.SHUT_RDWR)
        with pytest.raises(StageTrouble, match="the held data was not delivered"):
            silence.after(probe)


def test_answered_request_is_no_silence(serve: Serve) -> None:
    with undisturbed(serve(answer_requests(times=2)), LINK) as probe:
        assert Silence().met(probe) is None


def test_closed_connection_is_not_silent(serve: Serve) -> None:
    probe = undisturbed(serve(answer_requests(times=1)), LINK)
    assert probe.silent(0)
    probe.close()
    assert not probe.silent(0)


def test_undisturbed_rejects_a_broken_link(serve: Serve) -> None:
    with pytest.raises(StageTrouble, match="producer→broker-1 did not work before the"):
        undisturbed(serve(lambda connection: None), LINK)
