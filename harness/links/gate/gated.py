"""A gated link, whose ways (replication and Raft between brokers) share rules and counters."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from onceproof.harness.links.gate.connection import Connection
from onceproof.harness.links.gate.counters import Counters
from onceproof.harness.links.gate.exchange import EventReporter, Exchange
from onceproof.harness.links.gate.outlet import HeldFrame
from onceproof.harness.links.gate.rulebook import Rulebook, RuleCounter
from onceproof.harness.links.gate.tls import Tls, opened
from onceproof.harness.links.gate.topics import Topics

_CONNECT_SECONDS: Final = 30.0
_BACKLOG: Final = 128


@dataclass(frozen=True, kw_only=True)
class Route:
    """A listener and its upstream, as `host:port`; with `tls` each side is encrypted separately."""

    listen: str
    upstream: str
    tls: Tls | None = None

    @classmethod
    def from_json(cls, way: Mapping[str, Any]) -> Route:
        tls = way.get("tls")
        return cls(**{**way, "tls": None if tls is None else Tls(**tls)})


class GatedLink:
    """A link with a gate."""

    def __init__(self, name: str, *, topics: Topics, report: EventReporter) -> None:
        self.name = name
        self.counters = Counters()
        self._rules = Rulebook()
        self._topics = topics
        self._report = report
        self._connections: dict[int, Connection] = {}
        self._held: dict[HeldFrame, tuple[int, int]] = {}
        """Held frame → its rule and its connection."""
        self._tasks: set[asyncio.Task[None]] = set()

    def open(self, ways: Sequence[Route]) -> None:
        """Listen on every way; raise `OSError` if an address cannot be bound."""
        listening = []
        try:
            for way in ways:
                listening.append((_listener(way.listen), way))  # noqa: PERF401
        except OSError:
            for one, _ in listening:
                one.close()
            raise
        for one, way in listening:
            self._spawn(self._accept(one, way))

    def close(self) -> None:
        for task in list(self._tasks):
            task.cancel()
        self.sever()

    def sever(self) -> None:
        for connection in list(self._connections.values()):
            connection.close()

    def put(self, counted: RuleCounter) -> None:
        self._rules.put(counted)

    def remove(
        self,
        id: int,  # noqa: A002
        *,
        drop: bool = False,
        error: int | None = None,
    ) -> list[tuple[int, int]]:
        """Remove a rule, and forward what it holds, lose it, or answer with an error.

        Return connection and correlation id of each frame.

        Raises:
            ValueError: one of them cannot be answered with an error; nothing has changed.
        """
        frames = self._held_by(id)
        decisions = [frame.refusal(error) for frame in frames] if error is not None else []
        for decide in [frame.drop for frame in frames] if drop else decisions:
            decide()
        self._rules.remove(id)
        found = [(self._held[frame][1], frame.correlation_id) for frame in frames]
        self.release(id)
        return found

    def _held_by(self, id: int) -> list[HeldFrame]:  # noqa: A002
        return [held for held, (rule, _) in self._held.items() if rule == id and not held.released]

    def release(self, id: int) -> int:  # noqa: A002
        frames = self._held_by(id)
        for held in frames:
            held.released = True
        for connection in list(self._connections.values()):
            connection.go_on()
        return len(frames)

    def state(self) -> dict[str, Any]:
        return {
            **self.counters.as_json(),
            "connections": len(self._connections),
            "held": len(self._held),
            "rules": [counted.id for counted in self._rules.live],
        }

    async def _accept(self, listener: socket.socket, way: Route) -> None:
        loop = asyncio.get_running_loop()
        with listener:
            while True:
                client, _ = await loop.sock_accept(listener)
                self._spawn(self._connect(client, way))

    async def _connect(self, client: socket.socket, way: Route) -> None:
        loop = asyncio.get_running_loop()
        broker = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        broker.setblocking(False)
        host, _, port = way.upstream.rpartition(":")
        try:
            async with asyncio.timeout(_CONNECT_SECONDS):
                await loop.sock_connect(broker, (host, int(port)))
                for side in (client, broker):
                    side.setblocking(False)
                    side.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                if way.tls is not None:
                    broker = await opened(broker, way.tls.as_client(), host=host, spawn=self._spawn)
                    client = await opened(client, way.tls.as_broker(), host=None, spawn=self._spawn)
        except (OSError, asyncio.CancelledError) as error:
            # As without a gate behind the proxy: accepted, then closed.
            client.close()
            broker.close()
            if isinstance(error, asyncio.CancelledError):
                raise
            return
        self._start_connection(client, broker)

    def _start_connection(self, client: socket.socket, broker: socket.socket) -> None:
        self.counters.opened += 1
        number = self.counters.opened

        def report(event: str, **details: Any) -> None:
            self._report(event, link=self.name, connection=number, **details)

        def keep(counted: RuleCounter, held: HeldFrame) -> None:
            def over(delivered: bool) -> None:
                del self._held[held]
                became = "delivered" if delivered else "lost"
                report(became, rule=counted.id, correlation_id=held.correlation_id)

            held.over = over
            self._held[held] = counted.id, number

        connection = Connection(
            asyncio.get_running_loop(),
            client=client,
            broker=broker,
            exchange=lambda leave: Exchange(
                rules=self._rules,
                counters=self.counters,
                topics=self._topics,
                report=report,
                keep=keep,
                leave=leave,
            ),
            gone=lambda: self._forget(number),
        )
        self._connections[number] = connection
        connection.start()

    def _forget(self, number: int) -> None:
        del self._connections[number]

    def _spawn(self, work: Any) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def _listener(address: str) -> socket.socket:
    host, _, port = address.rpartition(":")
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, int(port)))
        listener.listen(_BACKLOG)
    except OSError:
        listener.close()
        raise
    listener.setblocking(False)
    return listener
