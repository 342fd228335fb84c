"""Pause a sender while a successor takes over, and resume it as a zombie.

The successor uses the same transactional id and finishes before the zombie resumes, so nothing that
the zombie had in flight may ever count.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

from onceproof.harness.clock import now
from onceproof.harness.context.run_context import Collected, RunContext
from onceproof.harness.wait import wait_until

RECORDS: Final = 60
"""Number of records that the successor sends."""
_SECONDS: Final = 60.0


@dataclass(frozen=True, kw_only=True)
class ZombieSender:
    """Pause a sender, let a successor take its place, and resume it."""

    kind: ClassVar[str] = "timeout"
    needs = None
    sender: str = "producer-0"
    """Its name, which is its transactional id."""

    def describe(self) -> str:
        return (
            f"pause {self.sender} until a successor with its transactional id has sent its records"
        )

    def inject(self, context: RunContext, name: str) -> _Zombie:
        return _Zombie(context, self.sender, name)


class _Zombie:
    def __init__(self, context: RunContext, sender: str, name: str) -> None:
        self._context, self._sender, self._name = context, sender, name
        self.at = now()
        self._process = context.producers.pause(sender)
        self.target = self._process.instance
        self._resumed_at: int | None = None
        self._proof: str | None = None
        try:
            successor = context.producers.succeed(sender, records=RECORDS)
            wait_until(
                lambda: context.producers.ended(successor),
                what=f"{successor} to send its records and exit",
                seconds=_SECONDS,
                stop=context.stop,
            )
            if self._process.frozen():
                seconds = (now() - self.at) / 1e9
                self._proof = (
                    f"{self.target} was paused for {seconds:.1f} s; meanwhile {successor} took "
                    f"over its transactional id, sent {RECORDS} records and exited"
                )
        except BaseException:
            self._process.thaw()
            raise

    def evidence(self) -> str | None:
        return self._proof

    def heal(self) -> None:
        if self._resumed_at is None:
            self._resumed_at = now()
        self._process.thaw()
        wait_until(
            lambda: not self._process.frozen(), what=f"{self.target} to resume", seconds=10,
            stop=self._context.stop,
        )  # fmt: skip

    def after_collect(self, known: Collected) -> None:
        """Record the hazard if it got an outcome after it resumed."""
        if self._resumed_at is None:
            return
        mine = f"{self._sender}/"
        returned = [
            attempt
            for attempt, (_, at) in known.returned.items()
            if attempt.startswith(mine) and at > self._resumed_at
        ]
        if returned:
            self._context.recorder.hazard(
                "zombie-back",
                hop="produce",
                at=self._resumed_at,
                fault=self._name,
                detail=f"{self.target} resumed after its successor had exited",
            )
