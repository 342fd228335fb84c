"""The harness's client of the gate process: orders, rules, and events.

Every order has a timeout, and its answer is checked. A gate that has exited or does not answer
raises `StageTrouble`; it never looks like a rule that did not fire.
"""

from __future__ import annotations

import json
import subprocess
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Any, Final
from uuid import UUID

from onceproof.harness.links.gate.gated import Route
from onceproof.harness.links.gate.rules import Rule
from onceproof.harness.processes.processes import Process, Processes
from onceproof.harness.processes.python import python_module
from onceproof.harness.processes.trouble import StageTrouble
from onceproof.harness.wait import Stop, wait_until

_SECONDS: Final = 20.0
"""Timeout of an answer, and of the start of the process."""
_EVERY: Final = 0.005
COMMAND: Final = tuple(python_module("onceproof.harness.links.gate"))

Event = Mapping[str, Any]
HeldKey = tuple[str, int, int]
"""Link, connection and correlation id of a held frame."""


class Gate:
    """A gate process for all gated links of a stage. Thread-safe."""

    def __init__(
        self, processes: Processes, command: Sequence[str] = COMMAND, *, seconds: float = _SECONDS
    ) -> None:
        """Start the process, and wait up to `seconds` until it answers.

        Raises:
            StageTrouble: it did not; it has been ended.
        """
        self._process: Process = processes.start("gate", command, pipes=True)
        self._lock = threading.Lock()
        self._orders = 0
        self._answers: dict[int, Event] = {}
        self._arrived = threading.Condition()
        """Notified of each answer, and of the end of the gate's output."""
        self._events: list[Event] = []
        threading.Thread(target=self._listen, daemon=True).start()
        try:
            self.order("state", seconds=seconds)
        except StageTrouble:
            self._process.kill("it did not answer after its start")
            raise

    @property
    def alive(self) -> bool:
        return self._process.leader_alive()

    def open(self, link: str, ways: Sequence[Route]) -> None:
        self.order("open", link=link, ways=[asdict(way) for way in ways])

    def close(self, link: str) -> None:
        """Stop listening and close the link's connections; held frames are lost."""
        self.order("close", link=link)

    def sever(self, link: str) -> None:
        """Close the link's connections; held frames are lost."""
        self.order("sever", link=link)

    def put(self, links: Sequence[str], rule: Rule, *, after: Placed | None = None) -> Placed:
        """Put a rule on one link, or on several that count its messages together.

        With `after`, it counts only messages that come after that rule has fired.
        """
        since = len(self._events)
        first = None if after is None else after.id
        number = self.order("put", links=links, rule=rule.as_json(), after=first)
        return Placed(gate=self, links=tuple(links), rule=rule, id=number, since=since)

    def teach(self, topics: Mapping[UUID, str]) -> None:
        self.order("teach", topics={str(one): name for one, name in topics.items()})

    def state(self) -> dict[str, dict[str, Any]]:
        """Return each gated link's counters, connections, live rules and held frames."""
        found: dict[str, dict[str, Any]] = self.order("state")
        return found

    def events(self, since: int = 0) -> list[Event]:
        """Return the events so far, from the n-th on."""
        self.state()  # the answer arrives after all earlier events
        return self.arrived(since)

    def arrived(self, since: int = 0) -> list[Event]:
        """Return the events that have arrived, from the n-th on, without asking for more."""
        return self._events[since:]

    def order(self, do: str, *, seconds: float = _SECONDS, **details: Any) -> Any:
        """Send an order and return its answer.

        Raises:
            StageTrouble: the gate refused, did not answer in time, or has exited.
        """
        with self._lock:
            self._orders += 1
            number = self._orders
            line = json.dumps({"number": number, "do": do, **details})
            assert self._process.popen.stdin is not None
            try:
                self._process.popen.stdin.write(line.encode() + b"\n")
                self._process.popen.stdin.flush()
            except OSError:
                raise self._exited(do) from None

        with self._arrived:
            if not self._arrived.wait_for(
                lambda: number in self._answers or not self.alive, timeout=seconds
            ):
                raise StageTrouble(
                    f"the gate did not answer to {do} within {seconds:g} s; last output: "
                    f"{self._process.tail()}"
                )
            answer = self._answers.pop(number, None)
        if answer is None:
            raise self._exited(do)
        if "trouble" in answer:
            raise StageTrouble(f"the gate cannot {do}: {answer['trouble']}")
        return answer["ok"]

    def _exited(self, do: str) -> StageTrouble:
        return StageTrouble(
            f"the gate cannot {do}: it exited with {self._process.popen.poll()}; "
            f"last output: {self._process.tail()}"
        )

    def _listen(self) -> None:
        assert self._process.popen.stdout is not None
        try:
            for line in self._process.popen.stdout:
                message: Event = json.loads(line)
                if "order" not in message:
                    self._events.append(message)
                    continue
                with self._arrived:
                    self._answers[message["order"]] = message
                    self._arrived.notify_all()
        finally:  # its last line may be incomplete
            with suppress(subprocess.TimeoutExpired):
                self._process.popen.wait(_SECONDS)
            with self._arrived:
                self._arrived.notify_all()


@dataclass(frozen=True, kw_only=True)
class Placed:
    """A rule on one or several links."""

    gate: Gate
    links: tuple[str, ...]
    rule: Rule
    id: int
    since: int = 0
    """How many events the gate had reported before."""

    @property
    def where(self) -> str:
        return ", ".join(self.links)

    @property
    def fired(self) -> list[Event]:
        return self._events("fired")

    @property
    def delivered(self) -> list[Event]:
        """The events of held frames that were forwarded."""
        return self._events("delivered")

    @property
    def lost(self) -> list[Event]:
        """The events of held frames that could not be forwarded."""
        return self._events("lost")

    def wait_fired(self, *, times: int = 1, seconds: float, stop: Stop | None = None) -> Event:
        """Wait until the rule has fired `times` times, and return the last of these events.

        Raises:
            Overdue: it did not.
            StageTrouble: the gate has exited.
        """
        wait_until(
            lambda: len(self.fired) >= times,
            what=f"the rule {self.rule.action} {self.rule.message.api} on {self.where} to fire",
            seconds=seconds,
            every=_EVERY,
            stop=stop,
            seen=lambda: {link: self.gate.state().get(link) for link in self.links},
        )
        return self.fired[times - 1]

    def release(self) -> int:
        return int(self.gate.order("release", links=self.links, id=self.id))

    def remove(self, *, drop: bool = False, error: str | None = None) -> list[HeldKey]:
        """Remove the rule, and forward what it holds, lose it, or answer with an error.

        Return what it held.

        Raises:
            StageTrouble: a frame cannot be answered with this error; it is still held.
        """
        found = self.gate.order("remove", links=self.links, id=self.id, drop=drop, error=error)
        return [(str(link), int(connection), int(number)) for link, connection, number in found]

    def arrived(self) -> list[Event]:
        """Return the rule's events that have arrived, without asking for more."""
        return [e for e in self.gate.arrived(self.since) if e.get("rule") == self.id]

    def _events(self, event: str) -> list[Event]:
        events = self.gate.events(self.since)
        return [e for e in events if e.get("rule") == self.id and e["event"] == event]
