"""The gate as the harness sees it: orders, rules that were put, and its events.

Every order has a time limit and its answer is checked; a gate that is gone
or says nothing is trouble of the stage, never a rule that did not fire.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final
from uuid import UUID

from onceproof.harness.links.gate.gated import Way
from onceproof.harness.links.gate.rules import Rule
from onceproof.harness.processes.processes import Process, Processes
from onceproof.harness.processes.python import python_module
from onceproof.harness.processes.trouble import StageTrouble
from onceproof.harness.wait import Overdue, Stop, wait_until

_SECONDS: Final = 20.0
"""How long an answer may take; starting is part of the first."""
_EVERY: Final = 0.005

Event = Mapping[str, Any]


class Gate:
    """A gate process; serves all gated links of a stage. Thread-safe."""

    def __init__(self, processes: Processes) -> None:
        self._process: Process = processes.start(
            "gate", python_module("onceproof.harness.links.gate"), pipes=True
        )
        self._lock = threading.Lock()
        self._orders = 0
        self._answers: dict[int, Event] = {}
        self._events: list[Event] = []
        threading.Thread(target=self._listen, daemon=True).start()

    @property
    def alive(self) -> bool:
        return self._process.leader_alive()

    def open(self, link: str, ways: Sequence[Way]) -> None:
        """Take clients in on a link's ways."""
        self.order("open", link=link, ways=[asdict(way) for way in ways])

    def close(self, link: str) -> None:
        """Take nobody in any more, and close the link's connections; what was held is lost."""
        self.order("close", link=link)

    def sever(self, link: str) -> None:
        """Close the link's connections; what was held is lost."""
        self.order("sever", link=link)

    def put(self, link: str, rule: Rule) -> Placed:
        """Let a rule act on a link from now on."""
        return Placed(gate=self, link=link, rule=rule, id=self.order(
            "put", link=link, rule=rule.as_json()
        ))  # fmt: skip

    def teach(self, topics: Mapping[UUID, str]) -> None:
        """Names of topics by their ids."""
        self.order("teach", topics={str(one): name for one, name in topics.items()})

    def state(self) -> dict[str, dict[str, Any]]:
        """Counters of every gated link, its connections, live rules and held frames."""
        found: dict[str, dict[str, Any]] = self.order("state")
        return found

    def events(self, since: int = 0) -> list[Event]:
        """Its events until now, from the n-th on."""
        self.state()  # its answer comes after all earlier events
        return self._events[since:]

    def order(self, do: str, **details: Any) -> Any:
        """Have it do something, and return its answer.

        Raises:
            StageTrouble: it cannot, it says nothing, or it is gone.
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
                raise self._gone(do) from None

        def answered() -> Event | None:
            if number not in self._answers and not self.alive:
                raise self._gone(do)
            return self._answers.pop(number, None)

        try:
            answer = wait_until(
                answered, what=f"the gate to answer to {do}", seconds=_SECONDS, every=_EVERY
            )
        except Overdue as error:
            raise StageTrouble(f"{error}; it said last: {self._process.tail()}") from None
        if "trouble" in answer:
            raise StageTrouble(f"the gate cannot {do}: {answer['trouble']}")
        return answer["ok"]

    def _gone(self, do: str) -> StageTrouble:
        return StageTrouble(
            f"the gate cannot {do}: it ended with {self._process.popen.poll()}; "
            f"it said last: {self._process.tail()}"
        )

    def _listen(self) -> None:
        assert self._process.popen.stdout is not None
        for line in self._process.popen.stdout:
            message: Event = json.loads(line)
            if "order" in message:
                self._answers[message["order"]] = message
            else:
                self._events.append(message)


@dataclass(frozen=True, kw_only=True)
class Placed:
    """A rule on a link."""

    gate: Gate
    link: str
    rule: Rule
    id: int

    @property
    def fired(self) -> list[Event]:
        """The events of each time that it acted."""
        return self._events("fired")

    @property
    def delivered(self) -> list[Event]:
        """The events of held frames that have gone out."""
        return self._events("delivered")

    @property
    def lost(self) -> list[Event]:
        """The events of held frames that could never go out."""
        return self._events("lost")

    def wait_fired(self, *, times: int = 1, seconds: float, stop: Stop | None = None) -> Event:
        """Wait until it has acted so often; returns the event of that time.

        Raises:
            Overdue: it did not.
            StageTrouble: the gate is gone.
        """
        wait_until(
            lambda: len(self.fired) >= times,
            what=f"{self.rule.action} of {self.rule.message.api} on {self.link} to act",
            seconds=seconds,
            every=_EVERY,
            stop=stop,
            seen=lambda: self.gate.state().get(self.link),
        )
        return self.fired[times - 1]

    def release(self) -> int:
        """Let go what it holds; returns how many frames that are."""
        return int(self.gate.order("release", link=self.link, id=self.id))

    def remove(self) -> int:
        """Let it act no more; what it holds is released. Returns how many frames that were."""
        return int(self.gate.order("remove", link=self.link, id=self.id))

    def _events(self, event: str) -> list[Event]:
        return [e for e in self.gate.events() if e.get("rule") == self.id and e["event"] == event]
