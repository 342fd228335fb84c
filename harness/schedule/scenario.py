"""A scenario as plain data: a subject, a workload, a schedule of faults, and what is expected.

Everything here is frozen, holds no running part, and is checked when it is
made, so that a mistake in a scenario is met before anything is started.
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
from onceproof.harness.stage.backends import PLAIN_TEXT
from onceproof.harness.workload.base import Workload
from onceproof.harness.workload.senders.base import MESSAGE_MAX_BYTES, Sender
from onceproof.harness.workload.senders.default import DEFAULT_SENDER

OPTIONAL: Final = frozenset({"queues", "http"})
"""What a stage has for those scenarios only that need it."""


class BadScenario(ValueError):
    """A scenario that cannot be run as written; the text says what would be right."""


@dataclass(frozen=True, kw_only=True)
class ScheduledFault:
    """One line of a schedule: when, what, until when.

    Attributes:
        name: unique in the schedule; findings and hazards refer to it.
        progress: acknowledged part of the workload from which on it may start, 0 to 1.
        after: names of earlier lines that must be healed first.
        during: a message that has to come next; it is held while the fault acts.
        behind: what must have passed before that message in its client's transaction; where it has
            not, the message goes on its way, and the next one is looked at.
        lost: whether that message never arrives, nor any like it until the fault has acted.
        until: what ends it once it has taken effect.
        required: without proof that it took effect the run is invalid.
        one_of: names a set of lines; unless one of them takes effect, the run is invalid.
        seconds: how long until it must have taken effect, and then how long until its end.
        hazard: what it has to bring; None: whatever the fault brings.
        tells: whether the fault itself records that hazard, when its own proof is there; else it is
            met once the fault is proved to have had an effect.
        tries: how often it is tried until that hazard was met.
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
            raise BadScenario(f"«{self.name}»: progress={self.progress}: expected 0 to 1")
        if self.lost and self.during is None:
            raise BadScenario(f"«{self.name}»: lost: expected during, the message that is lost")
        self._check_behind()

    def _check_behind(self) -> None:
        if self.behind is None:
            return
        if self.during is None or self.lost:
            raise BadScenario(
                f"«{self.name}»: behind: expected during, without lost: only a held message can "
                "be let through when it is not behind the other"
            )
        clients = {(each.source, each.client_id) for each in (self.during, self.behind)}
        if len(clients) > 1 or self.behind.client_id is None:
            raise BadScenario(
                f"«{self.name}»: behind: expected the same client_id in both messages, as a "
                "transaction has one client"
            )

    def when(self) -> str:
        """The trigger in words."""
        words = [f"«{name}» is healed" for name in self.after]
        if self.progress or not words:
            words.append(f"{self.progress:.0%} of the records are acknowledged")
        trigger = " and ".join(words)
        if self.during is None:
            return trigger
        return f"{trigger}; then during {self.moment()}{', which is lost' if self.lost else ''}"

    def moment(self) -> str:
        """The message in words that it acts during.

        Raises:
            ValueError: it acts during none.
        """
        if self.during is None:
            raise ValueError(f"«{self.name}» has no during")
        if self.behind is None:
            return self.during.describe()
        return f"{self.during.describe()}, behind {self.behind.describe()} in one transaction"

    @property
    def gated(self) -> tuple[str, ...]:
        """Audiences on whose links to brokers it needs gates."""
        messages = (self.during, self.behind, getattr(self.do, "message", None))
        return tuple(message.source for message in messages if isinstance(message, Message))

    @property
    def needs(self) -> tuple[str, ...]:
        """What the stage must offer for it."""
        gates = ("gates",) if self.gated else ()
        own = () if self.do.needs is None else (self.do.needs,)
        return tuple(dict.fromkeys((*own, *gates)))


class Drawing(Protocol):
    """How a schedule is drawn."""

    def describe(self) -> str:
        """In words."""

    def schedule(self, seed: int) -> tuple[ScheduledFault, ...]:
        """The schedule of a seed, always the same."""


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """What to try and what to expect.

    Attributes:
        name: what `onceproof run` takes.
        title: the story in one sentence.
        subject: what is on trial.
        workload: who sends what.
        schedule: the faults.
        claims: what is judged, each with its expectation.
        sender: by which client the workload is sent.
        topics: what has to be there beside the topics of workload and subject.
        seconds: about how long it takes, for `onceproof list`.
        draw: how the schedule is drawn from a run's seed, instead of being written here.
        transaction_version: of the cluster; None leaves it as the brokers have it.
        source: `FILE.py:NAME` of a scenario that a user keeps in a file; None: it is installed.
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

    def __post_init__(self) -> None:
        seen: set[str] = set()
        for line in self.schedule:
            if line.name in seen:
                raise BadScenario(f"{self.name}: two faults are named «{line.name}»")
            for earlier in line.after:
                if earlier not in seen:
                    raise BadScenario(
                        f"{self.name}: «{line.name}» waits for «{earlier}», "
                        "which does not come before it in the schedule"
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
                f"{self.name}: expected producers=1 and partitions=1 in a workload that is "
                "appended to a file"
            )
        consumes = isinstance(self.subject, OnQueues) and self.subject.from_queues
        if self.into_queues != consumes and not self.subject.sends:
            raise BadScenario(
                f"{self.name}: expected a subject that consumes queues with a sender to queues, "
                f"found {self.subject.name} with {self.sender.name}"
            )
        if self.into_queues and self.workload.partitions != 1:
            raise BadScenario(f"{self.name}: expected partitions=1: a queue has one")
        for claim in self.claims:
            if claim.scope.input not in self.workload.topics:
                raise BadScenario(
                    f"{self.name}: a claim is about {claim.scope.input}, "
                    f"but the workload goes to {' and '.join(self.workload.topics)}"
                )

    def drawn(self, seed: int) -> Scenario:
        """Itself with the schedule of a seed, if it has one drawn."""
        if self.draw is None:
            return self
        return replace(self, schedule=self.draw.schedule(seed), draw=None)

    @property
    def files(self) -> tuple[str, ...]:
        """Inputs that are files and no topics."""
        return self.workload.topics if self.sender.into == "file" else ()

    @property
    def into_queues(self) -> bool:
        """Whether the workload is sent to a queue broker."""
        return self.sender.into == "queues"

    @property
    def queues(self) -> tuple[str, ...]:
        """Addresses of a queue broker, which are no topics, the workload's first."""
        inputs = self.workload.topics if self.into_queues else ()
        own = self.subject.queues if isinstance(self.subject, OnQueues) else ()
        return (*inputs, *own)

    @property
    def http(self) -> HttpSettings | None:
        """The HTTP service that its subject calls."""
        return self.subject.http if isinstance(self.subject, CallsHttp) else None

    @property
    def needs(self) -> frozenset[str]:
        """What the stage must offer for it, whatever becomes of its schedule."""
        there = {
            "queues": bool(self.queues),
            "http": self.http is not None,
            PLAIN_TEXT: self.subject.plain_text,
        }
        return frozenset(name for name, needed in there.items() if needed)

    @property
    def all_topics(self) -> tuple[Topic, ...]:
        """Every topic that has to be there, the workload's first."""
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
