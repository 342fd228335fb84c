"""The database, the queue broker and the HTTP service.

Killed, a service recovers from its log. Stopped, it disconnects its clients and saves its state.
Paused, it keeps its connections, open transactions and locks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import ClassVar, Final

import psycopg

from onceproof.harness.clock import now
from onceproof.harness.context.run_context import RunContext
from onceproof.harness.faults.base import Injection
from onceproof.harness.faults.forwarders import forwarders
from onceproof.harness.faults.links.probed_link import wait_mended
from onceproof.harness.faults.targets.base import Verb, Victim
from onceproof.harness.links.topology import (
    AUDITOR,
    HTTP_SERVICE,
    POSTGRES,
    QUEUE_AUDIENCES,
    QUEUE_BROKER,
    Link,
)
from onceproof.harness.queues.auditor import NOWHERE, QueueTrouble
from onceproof.harness.subjects.queue.moments import MOMENTS
from onceproof.harness.subjects.queue.subject import FORWARDER
from onceproof.harness.wait import wait_until

_SECONDS: Final = 2
"""Time-out for an answer."""


@dataclass(frozen=True, kw_only=True)
class Service:
    """A node of the stage that is not a Kafka broker.

    Attributes:
        called: its name in sentences.
        needs: what the stage must offer.
        ways: the links to it.
        answers: whether it answers the harness in time.
    """

    node: str
    called: str
    needs: str
    ways: tuple[Link, ...]
    answers: Callable[[RunContext], bool]

    def wait_answers(self, context: RunContext) -> None:
        """Wait until it answers directly and on undisturbed links, or raise `Overdue`."""
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
QUEUE_SERVICE: Final = Service(
    node=QUEUE_BROKER,
    called="the queue broker",
    needs="queues",
    ways=tuple(Link(audience, QUEUE_BROKER) for audience in QUEUE_AUDIENCES),
    answers=_queue_broker_answers,
)
HTTP: Final = Service(
    node=HTTP_SERVICE,
    called="the HTTP service",
    needs="http",
    ways=(Link("pipeline", HTTP_SERVICE),),
    answers=lambda context: context.stage.http_service().answers(_SECONDS),
)


class ServiceVictim(Victim):
    """A node that is not a Kafka broker."""

    service: ClassVar[Service]

    def describe(self) -> str:
        return self.service.called

    def needs(self, verb: Verb, at: str | None) -> str | None:
        return self.service.needs

    def kill(self, context: RunContext, name: str, at: str | None) -> Injection:
        how = context.stage.kill(self.service.node, f"SIGKILL by fault «{name}»")
        return _Ended(context, self.service, how)

    def stop(self, context: RunContext, name: str, at: str | None) -> Injection:
        how = context.stage.shut_down(self.service.node, f"shut down by fault «{name}»")
        return _Ended(context, self.service, how)

    def pause(self, context: RunContext, name: str, at: str | None) -> Injection:
        return _Paused(context, self.service)


@dataclass(frozen=True, kw_only=True)
class Database(ServiceVictim):
    """The PostgreSQL server of the stage."""

    written: ClassVar[str] = "database"
    example: ClassVar[str] = "database"
    service: ClassVar[Service] = DATABASE


@dataclass(frozen=True, kw_only=True)
class HttpService(ServiceVictim):
    """The HTTP service of the stage. Killed, it still knows which requests it has carried out."""

    written: ClassVar[str] = HTTP_SERVICE
    example: ClassVar[str] = HTTP_SERVICE
    service: ClassVar[Service] = HTTP


@dataclass(frozen=True, kw_only=True)
class QueueBroker(ServiceVictim):
    """The queue broker, killed at any time or at a moment of a forwarder.

    At such a moment the forwarder's message has arrived, and what it took will be redelivered. Only
    a transaction, or duplicate detection that survives the restart, prevents a duplicate.
    """

    written: ClassVar[str] = "queue-broker"
    example: ClassVar[str] = "queue-broker"
    service: ClassVar[Service] = QUEUE_SERVICE
    windows: ClassVar[Mapping[Verb, Mapping[str, str]]] = {"kill": MOMENTS}
    forwarder: str = "forwarder-0"
    """The forwarder whose moment it is."""

    def needs(self, verb: Verb, at: str | None) -> str | None:
        return super().needs(verb, at) if at is None else FORWARDER

    def moment(self, verb: Verb, at: str | None) -> str:
        words = super().moment(verb, at)
        return f"{words}, of {self.forwarder}" if words else ""

    def kill(self, context: RunContext, name: str, at: str | None) -> Injection:
        if at is None:
            return super().kill(context, name, at)
        return _KilledAtMoment(context, name, self.forwarder, at)


class _Ended:
    """A service that was killed or stopped."""

    def __init__(self, context: RunContext, service: Service, how: str) -> None:
        self._context = context
        self._service = service
        self._how = how
        self.target = service.node
        self.at = now()

    def evidence(self) -> str | None:
        if self._service.answers(self._context):
            return None
        return f"{self._how}; connections that bypass the proxies get no answer"

    def heal(self) -> None:
        if not self._context.stage.alive(self._service.node):
            self._context.stage.restart(self._service.node)
        self._service.wait_answers(self._context)


class _Paused:
    def __init__(self, context: RunContext, service: Service) -> None:
        self._context = context
        self._service = service
        self.target = service.node
        self.at = now()
        self._seen = context.stage.pause(service.node)
        self._proof: str | None = None

    def evidence(self) -> str | None:
        if self._proof is None and self._context.stage.paused(self._service.node):
            silent = not self._service.answers(self._context)
            self._proof = f"{self._seen}; a new connection gets no answer" if silent else None
        return self._proof

    def heal(self) -> None:
        if self._context.stage.paused(self._service.node):
            self._context.stage.resume(self._service.node)
        self._service.wait_answers(self._context)


class _KilledAtMoment:
    def __init__(self, context: RunContext, name: str, who: str, when: str) -> None:
        self._forwarders = forwarders(context)
        self._who = who
        with self._forwarders.standing(who, when) as record:
            how = context.stage.kill(QUEUE_SERVICE.node, f"SIGKILL by fault «{name}»")
            where = f"{who} was held at {when} of {record}"
            self._ended = _Ended(context, QUEUE_SERVICE, f"{how}; {where}")
        self.target, self.at = self._ended.target, self._ended.at

    def evidence(self) -> str | None:
        return self._ended.evidence()

    def heal(self) -> None:
        """Restart it, release the forwarder, and wait until all forwarders consume."""
        self._ended.heal()
        self._forwarders.let_go(self._who)
        self._forwarders.wait_consuming()
