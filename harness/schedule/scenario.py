"""A scenario as plain data: subject, workload, fault schedule and claims.

All classes are frozen, hold nothing that runs, and validate themselves, so that a mistake in a
scenario is found before anything is started.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Final, Protocol

from onceproof.checkers.model import Claim
from onceproof.harness.context.subject import CallsHttp, OnQueues, Subject
from onceproof.harness.faults.base import Fault, Until
from onceproof.harness.faults.messages.message import Message
from onceproof.harness.faults.until import TookEffect
from onceproof.harness.http_service.settings import HttpSettings
from onceproof.harness.kafka.features import TRANSACTION_VERSIONS
from onceproof.harness.kafka.topic import Topic
from onceproof.harness.queues.base import QueueSettings
from onceproof.harness.stage.backends import PLAIN_TEXT, WITHOUT_IMAGE
from onceproof.harness.workload.base import Workload
from onceproof.harness.workload.senders.base import MESSAGE_MAX_BYTES, IntoQueues, Sender
from onceproof.harness.workload.senders.default import DEFAULT_SENDER

OPTIONAL: Final = frozenset({"queues", "http"})
"""Parts of a stage that exist only for scenarios that need them."""


class BadScenario(ValueError):
    """A scenario that cannot be run as written; the text says what is expected."""


@dataclass(frozen=True, kw_only=True)
class ScheduledFault:
    """One fault of a schedule: when, what, until when.

    Attributes:
        name: unique in the schedule; findings and hazards refer to it.
        progress: acknowledged part of the workload, 0 to 1, from which it may start.
        after: names of earlier faults that must be over first.
        during: the message to wait for; it is held while the fault is injected.
        behind: a message that must have passed earlier in the same transaction. If it has not,
            `during` is let through and the next such message is checked.
        lost: whether `during`, and every message like it until the injection, is dropped.
        until: what ends the fault once it has taken effect.
        required: whether the run is invalid without evidence that it took effect.
        one_of: name of a set of faults; unless one of them takes effect, the run is invalid.
        seconds: time limit for taking effect, and again for reaching its end.
        hazard: the hazard that it must cause; None: no particular one.
        tells: whether the fault itself records that hazard; otherwise the hazard is recorded as
            soon as there is evidence of an effect.
        tries: maximum number of tries until that hazard has occurred.
    """

    name: str
    do: Fault
    progress: float = 0.0
    after: tuple[str, ...] = ()
    during: Message | None = None
    behind: Message | None = None
    lost: bool = False
    until: Until = field(default_factory=TookEffect)
    required: bool = True
    one_of: str | None = None
    seconds: float = 90.0
    hazard: str | None = None
    tells: bool = False
    tries: int = 1

    def __post_init__(self) -> None:
        if not 0 <= self.progress <= 1:
            raise BadScenario(
                f"«{self.name}»: progress={self.progress}: expected a number from 0 to 1"
            )
        if self.lost and self.during is None:
            raise BadScenario(f"«{self.name}»: lost requires during, the message that is lost")
        self._check_behind()

    def _check_behind(self) -> None:
        if self.behind is None:
            return
        if self.during is None or self.lost:
            raise BadScenario(
                f"«{self.name}»: behind requires during, without lost: only a held message can be "
                "let through if it is not behind the other"
            )
        clients = {(each.source, each.client_id) for each in (self.during, self.behind)}
        if len(clients) > 1 or self.behind.client_id is None:
            raise BadScenario(
                f"«{self.name}»: behind requires a client_id, the same in both messages, because "
                "a transaction has one client"
            )

    def when(self) -> str:
        words = [f"«{name}» is over" for name in self.after]
        if self.progress or not words:
            words.append(f"{self.progress:.0%} of the records are acknowledged")
        trigger = " and ".join(words)
        if self.during is None:
            return trigger
        return f"{trigger}; then during {self.moment()}{', which is lost' if self.lost else ''}"

    def moment(self) -> str:
        """Describe the message during which it acts.

        Raises:
            ValueError: there is no `during`.
        """
        if self.during is None:
            raise ValueError(f"«{self.name}» has no during")
        if self.behind is None:
            return self.during.describe()
        return f"{self.during.describe()}, behind {self.behind.describe()} in one transaction"

    @property
    def gated(self) -> tuple[str, ...]:
        """Clients on whose links to brokers it needs gates."""
        messages = (self.during, self.behind, getattr(self.do, "message", None))
        return tuple(message.source for message in messages if isinstance(message, Message))

    @property
    def needs(self) -> tuple[str, ...]:
        gates = ("gates",) if self.gated else ()
        own = () if self.do.needs is None else (self.do.needs,)
        return tuple(dict.fromkeys((*own, *gates)))


class Drawing(Protocol):
    """How a schedule is drawn."""

    def describe(self) -> str: ...

    def schedule(self, seed: int) -> tuple[ScheduledFault, ...]:
        """Return the schedule of a seed; the same seed gives the same schedule."""


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """A subject under a workload and faults, and the claims to judge.

    Attributes:
        name: argument of `onceproof run`.
        claims: each with its expected verdict.
        topics: topics to create besides those of workload and subject.
        seconds: approximate duration, for `onceproof list`.
        draw: draws the schedule from the run's seed; excludes `schedule`.
        transaction_version: feature level of the cluster; None: the brokers' default.
        source: `FILE.py:NAME` of a scenario in a user's file; None: it is installed.
    """

    name: str
    title: str
    subject: Subject
    workload: Workload
    schedule: tuple[ScheduledFault, ...]
    claims: tuple[Claim, ...]
    sender: Sender = DEFAULT_SENDER
    topics: tuple[Topic, ...] = ()
    seconds: int = 70
    draw: Drawing | None = None
    transaction_version: int | None = None
    source: str | None = None

    @property
    def runtimes(self) -> frozenset[str]:
        """The runtimes of what is under test, of which a run can choose versions."""
        stage = {"kafka": bool(self.all_topics), "artemis": self._speaks("artemis")}
        found = {*self.subject.runtimes, *(name for name, used in stage.items() if used)}
        if self.subject.sends and self.sender.runtime is not None:
            found.add(self.sender.runtime)
        return frozenset(found)

    def __post_init__(self) -> None:
        seen: set[str] = set()
        for line in self.schedule:
            if line.name in seen:
                raise BadScenario(f"{self.name}: two faults are named «{line.name}»")
            for earlier in line.after:
                if earlier not in seen:
                    raise BadScenario(
                        f"{self.name}: «{line.name}» waits for «{earlier}», which is not an "
                        "earlier fault of the schedule"
                    )
            seen.add(line.name)
        if self.draw is not None and self.schedule:
            raise BadScenario(f"{self.name}: expected either schedule or draw, found both")
        if self.transaction_version not in (None, *TRANSACTION_VERSIONS):
            raise BadScenario(
                f"{self.name}: transaction_version={self.transaction_version}: expected "
                f"{', '.join(map(str, TRANSACTION_VERSIONS))}"
            )
        if self.workload.records and not self.claims:
            raise BadScenario(f"{self.name}: it has no claims, so nothing can be judged")
        if self.files and (self.workload.producers, self.workload.partitions) != (1, 1):
            raise BadScenario(
                f"{self.name}: expected producers=1 and partitions=1, because the workload "
                "is appended to a file"
            )
        consumes = isinstance(self.subject, OnQueues) and self.subject.from_queues
        if self.into_queues != consumes and not self.subject.sends:
            raise BadScenario(
                f"{self.name}: subject {self.subject.name} and sender {self.sender.name} do not "
                "match: expected both to use input queues, or neither"
            )
        if consumes and isinstance(self.sender, IntoQueues):
            there = self.sender.queue_broker.product
            if self.queue_broker is None or self.queue_broker.product != there:
                raise BadScenario(
                    f"{self.name}: subject {self.subject.name} and sender {self.sender.name} do "
                    "not match: expected both to use the same queue broker"
                )
        if self.into_queues and self.workload.partitions != 1:
            raise BadScenario(
                f"{self.name}: expected partitions=1, because a queue has one partition"
            )
        for claim in self.claims:
            if claim.scope.input not in self.workload.topics:
                raise BadScenario(
                    f"{self.name}: a claim is about {claim.scope.input}, "
                    f"but the workload writes to {' and '.join(self.workload.topics)}"
                )

    def drawn(self, seed: int) -> Scenario:
        """Return the scenario with its schedule drawn, if it draws one."""
        if self.draw is None:
            return self
        return replace(self, schedule=self.draw.schedule(seed), draw=None)

    @property
    def files(self) -> tuple[str, ...]:
        """Inputs that are files instead of topics."""
        return self.workload.topics if self.sender.into == "file" else ()

    @property
    def into_queues(self) -> bool:
        return self.sender.into == "queues"

    @property
    def queues(self) -> tuple[str, ...]:
        """Addresses of the queue broker that are used, the workload's first."""
        inputs = self.workload.topics if self.into_queues else ()
        own = self.subject.queues if isinstance(self.subject, OnQueues) else ()
        return (*inputs, *own)

    @property
    def queue_broker(self) -> QueueSettings | None:
        """Settings of the queue broker; None if there is none."""
        if not self.queues:
            return None
        if isinstance(self.subject, OnQueues):
            return self.subject.queue_broker
        return self.sender.queue_broker if isinstance(self.sender, IntoQueues) else None

    @property
    def http(self) -> HttpSettings | None:
        return self.subject.http if isinstance(self.subject, CallsHttp) else None

    def _speaks(self, product: str) -> bool:
        return self.queue_broker is not None and self.queue_broker.product == product

    @property
    def needs(self) -> frozenset[str]:
        """What the stage must offer even without the schedule."""
        there = {
            "queues": bool(self.queues),
            **{product: self._speaks(product) for product in WITHOUT_IMAGE},
            "http": self.http is not None,
            PLAIN_TEXT: self.subject.plain_text,
        }
        return frozenset(name for name, needed in there.items() if needed)

    @property
    def all_topics(self) -> tuple[Topic, ...]:
        inputs = () if self.files or self.into_queues else self.workload.topics
        names = (*inputs, self.subject.output_topic)
        partitions = self.workload.partitions
        own = (
            Topic(
                name=name,
                partitions=partitions,
                largest=MESSAGE_MAX_BYTES if name in inputs else None,
            )
            for name in names
            if name is not None
        )
        return (*own, *self.topics)
