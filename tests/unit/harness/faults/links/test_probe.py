"""Our own connection on a link, to a broker and a database that are made up."""

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


class Entrance(FakeStage):
    """A stage whose links all begin at one address."""

    def __init__(self, address: str) -> None:
        super().__init__()
        self.address = address

    def entrance(self, link: Link) -> str:
        return self.address


@pytest.fixture
def serve() -> Iterator[Serve]:
    """A stage whose link leads to something that does with each connection what it is told."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        host, port = listener.getsockname()

        def make(behave: Callable[[socket.socket], None]) -> Any:
            def accept() -> None:
                while True:
                    try:
                        way, _ = listener.accept()
                    except OSError:
                        return
                    with way, contextlib.suppress(ConnectionError):
                        behave(way)

            threading.Thread(target=accept, daemon=True).start()
            return Entrance(f"{host}:{port}")

        yield make
        listener.shutdown(socket.SHUT_RDWR)


def answers(*, times: int, with_bytes: int = 9) -> Callable[[socket.socket], None]:
    """Answers so many requests of Kafka's, and then reads on without a word."""

    def behave(way: socket.socket) -> None:
        left = times
        while head := way.recv(4, socket.MSG_WAITALL):
            way.recv(struct.unpack(">i", head)[0], socket.MSG_WAITALL)
            if left:
                way.sendall(struct.pack(">i", with_bytes) + b"x" * with_bytes)
            left -= bool(left)

    return behave


def test_bytes_are_counted(serve: Serve) -> None:
    with Probe(serve(answers(times=10)), LINK) as probe:
        one = probe.ask()
        assert (one.sent, one.received) == (probe.length(), 13)
        many = probe.ask(more=50, times=3)
        assert (many.sent, many.received) == (3 * (probe.length() + 50), 39)


def test_silence_is_noticed_and_an_answer_that_is_owed_missed(serve: Serve) -> None:
    silence = Silence(delivered=True)
    with undisturbed(serve(answers(times=1)), LINK) as probe:
        said = silence.met(probe)
        assert said is not None
        assert "was not answered within 1 s" in said
        probe._socket.shutdown(socket.SHUT_RDWR)
        with pytest.raises(StageTrouble, match="the held data was not delivered"):
            silence.after(probe)


def test_an_answer_is_no_silence(serve: Serve) -> None:
    with undisturbed(serve(answers(times=2)), LINK) as probe:
        assert Silence().met(probe) is None


def test_a_connection_that_ended_is_not_silent(serve: Serve) -> None:
    probe = undisturbed(serve(answers(times=1)), LINK)
    assert probe.silent(0)
    probe.close()
    assert not probe.silent(0)


def test_a_link_that_does_not_work_is_not_disturbed(serve: Serve) -> None:
    with pytest.raises(StageTrouble, match="producer→broker-1 did not work before the"):
        undisturbed(serve(lambda way: None), LINK)
