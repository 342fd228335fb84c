"""A producer of the workload.

Killed, its sends without an outcome stay unknown. Its next instance has the same transactional id,
and sends only what was not yet sent, like an application that stores its position before it sends.
Paused, it keeps its transaction, and reads the answers that arrived meanwhile when it resumes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import ClassVar, Final

from onceproof.harness.clock import now
from onceproof.harness.context.run_context import RunContext
from onceproof.harness.faults.base import Injection
from onceproof.harness.faults.targets.base import Numbered, Verb
from onceproof.harness.processes.processes import Process
from onceproof.harness.wait import wait_until

_SECONDS: Final = 1.0
"""Far longer than a working producer is silent."""


@dataclass(frozen=True, kw_only=True)
class Producer(Numbered):
    """A producer, by name."""

    written: ClassVar[str] = "producer-<n>"
    example: ClassVar[str] = "producer-0"
    name: str = "producer-0"

    def needs(self, verb: Verb, at: str | None) -> str | None:
        return None

    def kill(self, context: RunContext, name: str, at: str | None) -> Injection:
        end = partial(context.producers.kill, self.name, f"SIGKILL by fault «{name}»")
        return _Ended(context, self.name, end)

    def stop(self, context: RunContext, name: str, at: str | None) -> Injection:
        end = partial(context.producers.end, self.name, f"SIGTERM by fault «{name}»")
        return _Ended(context, self.name, end)

    def pause(self, context: RunContext, name: str, at: str | None) -> Injection:
        return _Paused(context, self.name)


class _Ended:
    def __init__(self, context: RunContext, who: str, end: Callable[[], Process]) -> None:
        self._context, self._who = context, who
        self.at = now()
        self._process = end()
        self.target = self._process.instance
        self._life: str | None = None

    def evidence(self) -> str | None:
        status = self._context.producers.status(self._process.name)
        unknown = status.called - status.ok - status.not_ok
        return (
            f"{self.target} {self._process.ended}; it had reported {status.called} sends, "
            f"{unknown} of them without an outcome"
        )

    def heal(self) -> None:
        """Start its next instance; wait until a send is acknowledged.

        Raises:
            Overdue, ProducerTrouble: it takes too long, or it ended before its work was done.
        """
        producers = self._context.producers
        if self._life is None:
            self._life = producers.go_on(self._who)
        life = self._life
        wait_until(
            lambda: producers.status(life).ok > 0 or producers.ended(life),
            what=f"a successful send of {life}",
            seconds=60,
            stop=self._context.stop,
            seen=lambda: producers.status(life),
        )


class _Paused:
    def __init__(self, context: RunContext, who: str) -> None:
        self._context = context
        self.at = now()
        self._process = context.producers.pause(who)
        self.target = self._process.instance
        self._moved = context.producers.status(self._process.name).moved
        self._still_since = self.at

    def evidence(self) -> str | None:
        """Return proof that all its threads are stopped and that it reports nothing."""
        moved = self._context.producers.status(self._process.name).moved
        if moved != self._moved:  # its last report was still in the pipe
            self._moved, self._still_since = moved, now()
        if now() - self._still_since < _SECONDS * 1e9 or not self._process.frozen():
            return None
        called, acknowledged, _ = moved
        return (
            f"all threads of {self.target} are stopped; it has reported nothing for more than "
            f"{_SECONDS:g} s, after {called} sends, {acknowledged} of them acknowledged"
        )

    def heal(self) -> None:
        """Resume it; wait until it reports progress.

        Raises:
            Overdue, ProducerTrouble: as above.
        """
        producers, name = self._context.producers, self._process.name
        self._process.thaw()
        wait_until(
            lambda: producers.status(name).moved != self._moved or producers.ended(name),
            what=f"{self.target} to report again",
            seconds=60,
            stop=self._context.stop,
            seen=lambda: producers.status(name),
        )
