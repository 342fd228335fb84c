"""What faults of a database and of a queue broker have in common: each is one node of the stage.

They are proved by our own way to the node, past the proxies.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Final

import psycopg

from onceproof.harness.artemis.auditor import QueueTrouble
from onceproof.harness.artemis.configuration import NOWHERE
from onceproof.harness.clock import now
from onceproof.harness.faults.on_link import wait_mended
from onceproof.harness.run_context import RunContext
from onceproof.harness.stage.topology import ARTEMIS, AUDITOR, POSTGRES, QUEUE_AUDIENCES, Link
from onceproof.harness.wait import wait_until

_SECONDS: Final = 2
"""How long an answer may take."""


@dataclass(frozen=True, kw_only=True)
class Service:
    """A node of the stage that is no broker of Kafka's.

    Attributes:
        node: its name.
        called: how it is called in sentences.
        needs: what a stage with it offers.
        ways: the links that lead to it.
        answers: whether it answers us in time.
    """

    node: str
    called: str
    needs: str
    ways: tuple[Link, ...]
    answers: Callable[[RunContext], bool]

    def wait_answers(self, context: RunContext) -> None:
        """Wait until it answers us, and others on each way that nobody disturbs.

        Raises:
            Overdue: it does not in time.
        """
        wait_until(
            lambda: self.answers(context),
            what=f"{self.called} to answer",
            seconds=40,
            stop=context.stop,
        )
        wait_mended(context, self.ways)


def _database_answers(context: RunContext) -> bool:
    try:
        with psycopg.connect(context.stage.database(AUDITOR), connect_timeout=_SECONDS):
            return True
    except psycopg.OperationalError:
        return False


def _queue_broker_answers(context: RunContext) -> bool:
    try:
        context.stage.queues().counts(NOWHERE)
    except QueueTrouble:
        return False
    return True


DATABASE: Final = Service(
    node=POSTGRES,
    called="the database",
    needs="database",
    ways=(Link("pipeline", POSTGRES),),
    answers=_database_answers,
)
QUEUE_BROKER: Final = Service(
    node=ARTEMIS,
    called="the queue broker",
    needs="queues",
    ways=tuple(Link(audience, ARTEMIS) for audience in QUEUE_AUDIENCES),
    answers=_queue_broker_answers,
)


@dataclass(frozen=True, kw_only=True)
class KillService:
    """SIGKILL it with all its processes; its next life recovers from its log."""

    kind: ClassVar[str] = "crash"
    needs: ClassVar[str | None]
    service: ClassVar[Service]

    def describe(self) -> str:
        return f"SIGKILL {self.service.called}"

    def inject(self, context: RunContext, name: str) -> Ended:
        """Kill it."""
        how = context.stage.kill(self.service.node, f"SIGKILL by fault «{name}»")
        return Ended(context, self.service, how)


@dataclass(frozen=True, kw_only=True)
class StopService:
    """Ask it to end at once: it disconnects everybody, and writes down what it has."""

    kind: ClassVar[str] = "crash"
    needs: ClassVar[str | None]
    service: ClassVar[Service]

    def describe(self) -> str:
        return f"shut {self.service.called} down"

    def inject(self, context: RunContext, name: str) -> Ended:
        """Ask it, and wait for its end."""
        how = context.stage.shut_down(self.service.node, f"shut down by fault «{name}»")
        return Ended(context, self.service, how)


@dataclass(frozen=True, kw_only=True)
class PauseService:
    """Stop all its processes in their tracks: it accepts, says nothing, and later goes on."""

    kind: ClassVar[str] = "timeout"
    needs: ClassVar[str | None]
    service: ClassVar[Service]

    def describe(self) -> str:
        return f"pause {self.service.called}"

    def inject(self, context: RunContext, name: str) -> Paused:
        """Pause it."""
        return Paused(context, self.service)


class Ended:
    """It ended for a fault's sake; it gets a new life when healed."""

    def __init__(self, context: RunContext, service: Service, how: str) -> None:
        """`how` is how it ended, as seen."""
        self._context = context
        self._service = service
        self._how = how
        self.target = service.node
        self.at = now()

    def evidence(self) -> str | None:
        """How it ended, and that nobody answers in its place."""
        if self._service.answers(self._context):
            return None
        return f"{self._how}; past the proxies nobody answers in its place"

    def heal(self) -> None:
        """Restart it, and see that it answers."""
        if not self._context.stage.alive(self._service.node):
            self._context.stage.restart(self._service.node)
        self._service.wait_answers(self._context)


class Paused:
    """It stands still."""

    def __init__(self, context: RunContext, service: Service) -> None:
        """Pause it."""
        self._context = context
        self._service = service
        self.target = service.node
        self.at = now()
        self._seen = context.stage.pause(service.node)
        self._proof: str | None = None

    def evidence(self) -> str | None:
        """Its state, and that a new connection gets no answer."""
        if self._proof is None and self._context.stage.paused(self._service.node):
            silent = not self._service.answers(self._context)
            self._proof = f"{self._seen}; a new connection gets no answer" if silent else None
        return self._proof

    def heal(self) -> None:
        """Let it go on, and see that it answers."""
        if self._context.stage.paused(self._service.node):
            self._context.stage.resume(self._service.node)
        self._service.wait_answers(self._context)
