"""Consumer groups that keep their guarantee, each under the fault that threatens it most.

A member that is killed or told that its transaction is invalid must start again from the committed
offsets; a zombie must be fenced.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from onceproof.checkers.model import Claim, Expectation
from onceproof.harness.context.subject import Subject
from onceproof.harness.faults.kill import Kill
from onceproof.harness.faults.messages.hit_message import HitMessage
from onceproof.harness.faults.messages.message import Message
from onceproof.harness.faults.pause import Pause
from onceproof.harness.faults.targets.brokers import CoordinatorOf
from onceproof.harness.faults.targets.member import Member
from onceproof.harness.faults.until import Acknowledged
from onceproof.harness.schedule.scenario import Scenario, ScheduledFault
from onceproof.harness.subjects.group.clients import Client
from onceproof.harness.subjects.group.hazards import ABANDONED, ABORTED, REPLAYED, UNWRITTEN
from onceproof.harness.subjects.group.subject import ConsumerGroup
from onceproof.harness.subjects.group.task import Protocol
from onceproof.harness.workload.payments import Payments
from onceproof.scenarios import base
from onceproof.scenarios.base import DUPLICATES, HOLDS, LOST, UNEXERCISED, violated

WORKLOAD = Payments(records=6_000, producers=2, keys=64, partitions=3, rate=500)
WHO = "member-0"
"""The member that faults target."""


def passing(
    direction: str, api: str, *, who: str = WHO, nth: int = 2, topic: str | None = None
) -> Message:
    """Match a message of a member; by default its second, so that it has made some progress."""
    return Message(
        topic=topic,
        source="pipeline",
        direction=direction,  # type: ignore[arg-type]
        api=api,
        client_id=who,
        nth=nth,
    )


def claims(
    subject: Subject,
    *,
    most: Expectation | None,
    least: Expectation | None,
    exactly: Expectation | None,
    hazards: frozenset[str] = frozenset({ABORTED}),
) -> tuple[Claim, ...]:
    """Return those of the three claims of a group that have an expectation."""
    topic, sink, view = WORKLOAD.topic, subject.sink, subject.view
    return base.claims(topic, sink, view, most=most, least=least, exactly=exactly, hazards=hazards)


KILLED_IN_TRANSACTION = ScheduledFault(
    name="killed during a transaction",
    progress=0.1,
    # Effects and offsets are in the transaction, and its EndTxn is lost. Earlier messages are less
    # reliable: the first Produce of a transaction may be refused, and a Java client may send its
    # offsets before any effect.
    during=passing("request", "EndTxn"),
    lost=True,
    do=Kill(Member(name=WHO)),
)


def zombie(api: str, direction: str = "request", *, who: str = WHO) -> ScheduledFault:
    """Pause the member at a message of a client; choose one before its offsets are sent, because
    pending offsets would keep the others waiting for the end.
    """
    return ScheduledFault(
        name="zombie",
        progress=0.1,
        during=passing(direction, api, who=who),
        do=Pause(Member(name=WHO)),
    )


ZOMBIE: Final[dict[Client, ScheduledFault]] = {
    "librdkafka": zombie("AddOffsetsToTxn"),
    # Not at a Produce: whether a record expires before the offsets are acknowledged would be
    # chance; docs/findings/java-positions-of-an-abort.md says what happens then. Here the other
    # members wait until its transaction times out.
    "java": replace(zombie("EndTxn"), lost=True),
    "aiokafka": zombie("AddOffsetsToTxn"),
    # With transaction version 2 its offsets come with the same request as their partitions do.
    "franz-go": replace(zombie("EndTxn"), lost=True),
    "sarama": replace(zombie("EndTxn"), lost=True),
    "confluent-javascript": zombie("AddOffsetsToTxn"),
    # It sends its offsets without waiting for its Produce responses; and when it resumes, it finds
    # its request overdue before it reads the response, and gives up.
    "kafka-python": zombie("Produce", "response"),
}
_UNKNOWN_MEMBER = ScheduledFault(
    name="transaction error returned",
    progress=0.1,
    do=HitMessage(
        message=passing("response", "TxnOffsetCommit", nth=1),
        action="error",
        error="UNKNOWN_MEMBER_ID",
    ),
)
TRANSACTION_ERROR: Final[dict[Client, ScheduledFault]] = {
    # Only after its effects are in the log is there something to abort.
    "librdkafka": replace(
        _UNKNOWN_MEMBER,
        during=passing("request", "TxnOffsetCommit", nth=1),
        behind=replace(passing("response", "Produce", nth=1), refused=False),
    ),
    # It sends no effects while it sends its offsets, and usually sends these first: it would learn
    # that it is not in the group before there is anything to abort.
    "java": replace(
        _UNKNOWN_MEMBER,
        do=HitMessage(
            message=replace(passing("request", "EndTxn"), commits=True),
            action="error",
            error="TRANSACTION_ABORTABLE",
        ),
    ),
    # It sends its offsets when all its effects are acknowledged.
    "franz-go": _UNKNOWN_MEMBER,
    "sarama": _UNKNOWN_MEMBER,
    "kafkajs": _UNKNOWN_MEMBER,
    "confluent-javascript": _UNKNOWN_MEMBER,
    "kafka-python": _UNKNOWN_MEMBER,  # it always sends its offsets first
}
EFFECTS_REJECTED = ScheduledFault(
    name="effects rejected",
    progress=0.1,
    do=HitMessage(
        message=passing("request", "Produce"), action="error", error="MESSAGE_SIZE_TOO_LARGE"
    ),
)
COMMIT_RESPONSE_LOST = ScheduledFault(
    name="commit response lost",
    progress=0.1,
    do=HitMessage(message=passing("response", "EndTxn"), action="drop"),
)
COORDINATOR_KILLED = ScheduledFault(
    name="transaction coordinator killed",
    progress=0.1,
    during=passing("request", "EndTxn"),
    do=Kill(CoordinatorOf(of="transaction", name=f"billing-{WHO}")),
)


def _special_claims(subject: ConsumerGroup, story: str) -> tuple[Claim, ...]:
    """Return the claims of a fault that tests fewer, or that a client violates: docs/findings."""
    if subject.client == "kafkajs":
        # A rebalance during a transaction repeats inputs, and whether one comes then is chance.
        return claims(subject, most=None, least=HOLDS, exactly=None)
    if story == "-refused":
        # No refused record is in any log, so nothing could be duplicated.
        return claims(subject, most=None, least=HOLDS, exactly=None, hazards=frozenset({UNWRITTEN}))
    if (subject.client, story) == ("aiokafka", "-paused"):
        return claims(
            subject,
            most=DUPLICATES,
            least=HOLDS,
            exactly=violated("duplicate-output", "offset-regressed"),
            hazards=frozenset({REPLAYED}),
        )
    return ()


def of_client(client: Client, protocol: Protocol = "classic") -> tuple[Scenario, ...]:
    """Return the scenarios of an exactly-once group of one client."""
    subject = ConsumerGroup(client=client, protocol=protocol)
    who = client if protocol == "classic" else f"{client}, consumer protocol"
    # With the consumer protocol members work during a rebalance, and their offsets may be refused.
    alone = subject if protocol == "classic" else replace(subject, members=1)
    hold = claims(subject, most=HOLDS, least=HOLDS, exactly=HOLDS)
    quiet = Scenario(
        name=f"{subject.name}-quiet",
        title=f"An exactly-once group of {who} without faults: nothing is tested",
        subject=alone,
        workload=WORKLOAD,
        schedule=(),
        claims=claims(subject, most=UNEXERCISED, least=UNEXERCISED, exactly=UNEXERCISED),
        seconds=25,
    )
    schedules = {
        "": (
            "Topic to topic, exactly-once: commit response lost, coordinator and member killed",
            (
                COMMIT_RESPONSE_LOST,
                replace(COORDINATOR_KILLED, after=(COMMIT_RESPONSE_LOST.name,)),
                replace(KILLED_IN_TRANSACTION, after=(COORDINATOR_KILLED.name,)),
            ),
        ),
        "-killed": (
            "A member killed when its transaction has effects and offsets, but no EndTxn",
            (KILLED_IN_TRANSACTION,),
        ),
    }
    if client in ZOMBIE:  # when KafkaJS resumes, it may find its request overdue, and abort
        schedules["-paused"] = (
            "A zombie: a member paused during its transaction until others take over",
            (ZOMBIE[client],),
        )
    if client == "aiokafka":
        # It commits without its member id, so the coordinator never answers UNKNOWN_MEMBER_ID.
        schedules["-refused"] = (
            "A member whose records a broker rejects: none of its transaction may be committed",
            (EFFECTS_REJECTED,),
        )
    elif client != "kafka-python":  # its outcome would be chance: see _STALE
        schedules["-void"] = (
            "A member told that its transaction is invalid: it must abort and start again",
            (TRANSACTION_ERROR[client],),
        )
    return (
        quiet,
        *(
            replace(
                quiet,
                name=f"{subject.name}{story}",
                subject=subject,
                title=title if who == "librdkafka" else f"{title} ({who})",
                schedule=schedule,
                claims=_special_claims(subject, story) or hold,
                seconds=45,
            )
            for story, (title, schedule) in schedules.items()
        ),
    )


_ABORT_HELD = ScheduledFault(
    name="abort held",
    # Until it arrives, each partition has more to read than fits into a batch, so that the next
    # transaction contains one partition only.
    do=HitMessage(
        message=replace(passing("request", "EndTxn", nth=1), commits=False), action="hold"
    ),
    until=Acknowledged(records=1_000),
)
_TRANSACTION_ERROR_OF_TWO = replace(
    TRANSACTION_ERROR["kafka-python"],
    # Ends as soon as it took effect: the next fault must be armed when the abort is released.
    do=HitMessage(
        message=replace(passing("response", "TxnOffsetCommit", nth=1), partitions=2),
        action="error",
        error="UNKNOWN_MEMBER_ID",
    ),
)
_KILLED_AFTER_NEXT = ScheduledFault(
    name="killed after its next commit",
    after=(_TRANSACTION_ERROR_OF_TWO.name,),
    during=replace(passing("response", "EndTxn", nth=1), commits=True),
    do=Kill(Member(name=WHO)),
)
_STALE = ConsumerGroup(client="kafka-python", members=1)
"""One member: another one would continue in its partitions, and the offsets would go back."""
_BEFORE = ConsumerGroup(commits="before")
_AFTER = ConsumerGroup(commits="after")

SCENARIOS = (
    *of_client("librdkafka"),
    *of_client("java"),
    *of_client("aiokafka"),
    *of_client("kafka-python"),
    *of_client("franz-go"),
    *of_client("sarama"),
    *of_client("kafkajs"),
    *of_client("confluent-javascript"),
    *of_client("librdkafka", "consumer"),
    *of_client("java", "consumer"),
    Scenario(
        name=f"{_STALE.name}-void-killed",
        title="A member told that its id is unknown, then killed after its next commit",
        subject=_STALE,
        workload=WORKLOAD,
        schedule=(_ABORT_HELD, _TRANSACTION_ERROR_OF_TWO, _KILLED_AFTER_NEXT),
        # See docs/findings/kafka-python-positions-of-an-abort.md. Without the kill the outcome is
        # chance: no anomaly, or offset-regressed.
        claims=claims(
            _STALE,
            most=HOLDS,
            least=LOST,
            exactly=LOST,
            hazards=frozenset({ABANDONED}),
        ),
        seconds=45,
    ),
    Scenario(
        name=_BEFORE.name,
        title="A group that commits first, killed between commit and effects: at-most-once",
        subject=_BEFORE,
        workload=WORKLOAD,
        schedule=(
            ScheduledFault(
                name="killed after its commit",
                progress=0.1,
                during=passing("response", "OffsetCommit"),
                do=Kill(Member(name=WHO)),
            ),
        ),
        claims=claims(
            _BEFORE,
            most=HOLDS,
            least=LOST,
            exactly=LOST,
            hazards=frozenset({ABANDONED}),
        ),
        seconds=40,
    ),
    Scenario(
        name=_AFTER.name,
        title="A group that commits last, killed between effects and commit: at-least-once",
        subject=_AFTER,
        workload=WORKLOAD,
        schedule=(
            ScheduledFault(
                name="killed before its commit",
                progress=0.1,
                during=passing("response", "Produce"),
                do=Kill(Member(name=WHO)),
            ),
        ),
        claims=claims(
            _AFTER,
            most=DUPLICATES,
            least=HOLDS,
            exactly=DUPLICATES,
            hazards=frozenset({REPLAYED}),
        ),
        seconds=40,
    ),
)
