"""A forwarder between two queues.

Once a dead forwarder's connection is gone, the broker redelivers its unconsumed messages to others.
A paused one is a zombie: its transaction was rolled back, but its writes outside one still count.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from onceproof.harness.clock import now
from onceproof.harness.context.run_context import RunContext
from onceproof.harness.faults.base import Injection
from onceproof.harness.faults.forwarders import forwarders
from onceproof.harness.faults.targets.base import Numbered, Verb
from onceproof.harness.faults.targets.ended import EndedProcess
from onceproof.harness.subjects.queue.moments import BEFORE_COMMIT, MOMENTS
from onceproof.harness.subjects.queue.subject import FORWARDER


@dataclass(frozen=True, kw_only=True)
class Forwarder(Numbered):
    """A forwarder, by name, killed or paused at a moment: before its commit by default."""

    written: ClassVar[str] = "forwarder-<n>"
    example: ClassVar[str] = "forwarder-0"
    windows: ClassVar[Mapping[Verb, Mapping[str, str]]] = {"kill": MOMENTS, "pause": MOMENTS}
    paused_until: ClassVar[str] = "until the broker redelivers its record"
    name: str = "forwarder-0"

    def needs(self, verb: Verb, at: str | None) -> str | None:
        return FORWARDER

    def moment(self, verb: Verb, at: str | None) -> str:
        return super().moment(verb, BEFORE_COMMIT if at is None and verb != "stop" else at)

    def kill(self, context: RunContext, name: str, at: str | None) -> Injection:
        return _Killed(context, name, self.name, at or BEFORE_COMMIT)

    def stop(self, context: RunContext, name: str, at: str | None) -> Injection:
        """Send SIGTERM at once; it may or may not consume what it took."""
        running = forwarders(context)

        def heal() -> None:
            running.restart(self.name)
            running.wait_consuming()

        return EndedProcess(partial(running.stop, self.name, f"SIGTERM by fault «{name}»"), heal)

    def pause(self, context: RunContext, name: str, at: str | None) -> Injection:
        return _Paused(context, self.name, at or BEFORE_COMMIT)


class _Killed:
    def __init__(self, context: RunContext, name: str, who: str, when: str) -> None:
        self._forwarders = forwarders(context)
        self._who, self._when = who, when
        with self._forwarders.standing(who, when) as self._record:
            self.at = now()
            self._process = self._forwarders.kill(who, f"SIGKILL by fault «{name}»")
        self.target = self._process.instance
        self._forwarders.let_go(who)

    def evidence(self) -> str | None:
        return f"{self.target} {self._process.ended}; it was held at {self._when} of {self._record}"

    def heal(self) -> None:
        self._forwarders.restart(self._who)
        self._forwarders.wait_consuming()


class _Paused:
    def __init__(self, context: RunContext, who: str, when: str) -> None:
        self._forwarders = forwarders(context)
        self._who, self._when = who, when
        with self._forwarders.standing(who, when) as self._record:
            self.at = now()
            self._process = self._forwarders.pause(who)
        self.target = self._process.instance

    def evidence(self) -> str | None:
        if not self._process.frozen():
            return None
        other = self._forwarders.given(self._record, since=self.at, but=self._who)
        if other is None:
            return None
        return (
            f"{self.target} is paused at {self._when} of {self._record}, which the broker has "
            f"since delivered to {other}"
        )

    def heal(self) -> None:
        self._forwarders.let_go(self._who)
        self._process.thaw()
        self._forwarders.wait_consuming()
