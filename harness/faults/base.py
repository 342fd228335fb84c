"""The interfaces of a fault, its injection and its end condition.

To add a fault, add a file to this folder. A fault without evidence makes the run invalid.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Protocol, runtime_checkable

from onceproof.harness.context.run_context import Collected, RunContext


class NoEffect(Exception):
    """The fault acted but can no longer take effect; the message says what was observed."""


class Injection(Protocol):
    """One injected fault."""

    @property
    def target(self) -> str:
        """The resolved target, e.g. `broker-2 (leader of payments-0)`."""

    @property
    def at(self) -> int | None:
        """Time of the injection; None while the fault is only armed."""

    def evidence(self) -> str | None:
        """Return proof that the fault took effect, with figures; None while there is none yet.

        Raises:
            NoEffect: there will be no proof, so the caller injects the fault again at once.
        """

    def heal(self) -> None:
        """Undo the fault, or raise `Overdue` or `StageTrouble`; can be called again."""


@runtime_checkable
class AfterCollect(Injection, Protocol):
    """An injection whose hazards are known only after the history has been collected."""

    def after_collect(self, known: Collected) -> None:
        """Record the hazards."""


@runtime_checkable
class HoldsMessages(Injection, Protocol):
    """An injection that acts on single messages, and may hold them."""

    def messages(self) -> Sequence[Mapping[str, Any]]:
        """Return the gates' events of the messages that it has met; `became` says what became of
        each: `held`, `delivered`, `lost`, what was decided, or the fault's action.
        """

    @property
    def holding(self) -> bool:
        """Whether it holds messages now."""

    def decide(self, *, drop: bool = False, error: str | None = None) -> bool:
        """Lose the messages that it holds, or answer with an error; by default let them go.

        Return whether it held any.

        Raises:
            StageTrouble: no message can be answered with this error; they are still held.
        """


class Fault(Protocol):
    """A fault, as plain data."""

    kind: ClassVar[str]
    """`crash`, `partition`, `timeout`, or `surgery`: not covered by the standard fine print."""

    @property
    def needs(self) -> str | None:
        """Return what the run must offer; None if nothing.

        The stage offers to `kill`, `stop` or `pause` a broker, to `cut` a client's link, `links` of
        every kind, `gates`, the `database`, `queues`, `http`. The subject may offer a `program`, a
        `driver`, `executors`, a `new checkpoint`, a `member`, a `worker`, a `job`, a `forwarder`,
        or `commits` that can be held.
        """

    def describe(self) -> str:
        """Describe the fault as a phrase without a subject: `SIGKILL all brokers`."""

    def inject(self, context: RunContext, name: str) -> Injection:
        """Inject the fault. Hazards refer to it by `name`, its name in the schedule."""


class Until(Protocol):
    """A condition that ends a fault."""

    def describe(self) -> str:
        """Describe the condition for reports."""

    def begin(self, context: RunContext) -> object:
        """Return the state at the start of the fault, for `reached`."""

    def reached(self, context: RunContext, begun: object) -> bool:
        """Whether the fault may end; asked only once it has taken effect."""
