"""What a fault is: plain data that can be injected, healed, and asked for proof of its effect.

`inject` resolves the target's role and acts; the `Injection` that it returns
knows how to undo it and what proves it. A fault without proof makes the run invalid. Add a fault by
adding a file to this folder.
"""

from __future__ import annotations

from typing import ClassVar, Protocol, runtime_checkable

from onceproof.harness.context.run_context import Collected, RunContext


class NoEffect(Exception):
    """A fault has acted, and can take effect no more; the text says what was seen."""


class Injection(Protocol):
    """One fault at work."""

    @property
    def target(self) -> str:
        """The target as resolved, e.g. `broker-2 (leader of payments-0)`."""

    @property
    def at(self) -> int | None:
        """When it acted; None while it is only armed."""

    def evidence(self) -> str | None:
        """What proves that it took effect, with figures; None while nothing does.

        Raises:
            NoEffect: nothing will. Nobody waits for it then, and it is tried again at once.
        """

    def heal(self) -> None:
        """Undo it and see that it is undone; raises `Overdue` or `StageTrouble` if it is not.

        Called again after that, it goes on from what is there.
        """


@runtime_checkable
class AfterCollect(Injection, Protocol):
    """One whose hazards show only when everything has been collected."""

    def after_collect(self, known: Collected) -> None:
        """Record those hazards."""


class Fault(Protocol):
    """One act on a link or a process."""

    kind: ClassVar[str]
    """crash, partition or timeout; or surgery on what a pipeline trusts, which the standard fine
    print does not cover."""

    @property
    def needs(self) -> str | None:
        """What there must be.

        The stage offers to `kill`, `stop` or `pause` a broker, to `cut` a client's link, `links` of
        every kind, the `database` ended or paused; the subject a `driver`, `executors`, a `member`,
        a `worker`, a `job` or `commits` that can be held, which not every one has.
        """

    def describe(self) -> str:
        """What it does, as a phrase without a subject: `SIGKILL all brokers`."""

    def inject(self, context: RunContext, name: str) -> Injection:
        """Do it. `name` is its name in the schedule, for hazards to refer to."""


class Until(Protocol):
    """What ends a fault."""

    def describe(self) -> str:
        """In words."""

    def begin(self, context: RunContext) -> object:
        """A look at the state when the fault starts."""

    def reached(self, context: RunContext, begun: object) -> bool:
        """Whether it may end, given that it has taken effect."""
