"""Consumer groups that keep what they promise, under what hurts each of them most.

The story: a member reads payments, writes each with its fee, and commits its position. Killed or
paused between the two, or told that its transaction is void, it must start again from the committed
position; who comes back from the dead must be fenced.
"""

from __future__ import annotations

from checkers.claims import at_least_once, at_most_once, exactly_once
from checkers.model import Claim, Expectation, Verdict
from harness.faults.hit_message import HitMessage
from harness.faults.kill_broker import KillBroker
from harness.faults.kill_member import KillMember
from harness.faults.message import Message
from harness.faults.pause_member import PauseMember
from harness.faults.targets import CoordinatorOf
from harness.scenario import At, Scenario
from harness.subjects.group.hazards import ABANDONED, REPLAYED
from harness.subjects.group.subject import ConsumerGroup
from harness.workload.payments import Payments

WORKLOAD = Payments(records=6_000, producers=2, keys=64, partitions=3, rate=500)
HOLDS = Expectation(verdict=Verdict.HOLDS)
UNEXERCISED = Expectation(verdict=Verdict.UNEXERCISED)
WHO = "member-0"
"""Whom faults are aimed at."""


def violated(*anomalies: str) -> Expectation:
    """Violated by exactly these."""
    return Expectation(verdict=Verdict.VIOLATED, anomalies=frozenset(anomalies))


def passing(direction: str, api: str, *, who: str = WHO, nth: int = 2) -> Message:
    """A message of a member; not its first, so that it has done something before."""
    return Message(
        source="pipeline",
        direction=direction,  # type: ignore[arg-type]
        api=api,
        client_id=who,
        nth=nth,
    )


def claims(
    subject: ConsumerGroup,
    *,
    most: Expectation | None,
    least: Expectation | None,
    exactly: Expectation | None,
    hazards: frozenset[str] = frozenset({REPLAYED}),
) -> tuple[Claim, ...]:
    """All three claims of one group; without an expectation one is not judged."""
    topic, sink, view = WORKLOAD.topic, subject.sink, subject.view
    return tuple(
        claim(topic, into=sink, view=view, hazards=hazards, expect=expect)
        for claim, expect in (
            (at_most_once, most),
            (at_least_once, least),
            (exactly_once, exactly),
        )
        if expect is not None
    )


KILLED_OPEN = At(
    name="killed amid a transaction",
    progress=0.1,
    during=passing("request", "TxnOffsetCommit"),
    do=KillMember(member=WHO),
)
PAUSED_OPEN = At(
    name="zombie",
    progress=0.1,
    during=passing("request", "AddOffsetsToTxn"),
    do=PauseMember(member=WHO),
)
VOID = At(
    name="told that it is void",
    progress=0.1,
    do=HitMessage(
        message=passing("response", "TxnOffsetCommit"), action="error", error="UNKNOWN_MEMBER_ID"
    ),
)
ANSWER_LOST = At(
    name="answer to the commit lost",
    progress=0.1,
    do=HitMessage(message=passing("response", "EndTxn"), action="drop"),
)
COORDINATOR_KILLED = At(
    name="transaction coordinator killed",
    progress=0.1,
    during=passing("request", "EndTxn"),
    do=KillBroker(target=CoordinatorOf(of="transaction", name=f"billing-{WHO}")),
)
CTP = ConsumerGroup()
_ALL_HOLD = claims(CTP, most=HOLDS, least=HOLDS, exactly=HOLDS)


def _scenario(subject: ConsumerGroup, story: str, title: str, *schedule: At) -> Scenario:
    return Scenario(
        name=f"{subject.name}{story}",
        title=title,
        subject=subject,
        workload=WORKLOAD,
        schedule=schedule,
        claims=_ALL_HOLD,
        seconds=45,
    )


_BEFORE = ConsumerGroup(commits="before")
_AFTER = ConsumerGroup(commits="after")

SCENARIOS = (
    Scenario(
        name=f"{CTP.name}-quiet",
        title="A consume-transform-produce group undisturbed: nothing may go wrong, nor be tested",
        subject=CTP,
        workload=WORKLOAD,
        schedule=(),
        claims=claims(CTP, most=UNEXERCISED, least=UNEXERCISED, exactly=UNEXERCISED),
        seconds=25,
    ),
    _scenario(
        CTP,
        "-killed",
        "A member killed when its transaction has effects and not yet its positions",
        KILLED_OPEN,
    ),
    _scenario(
        CTP,
        "-paused",
        "A member paused amid its transaction until the group goes on without it: a zombie",
        PAUSED_OPEN,
    ),
    _scenario(
        CTP,
        "-void",
        "A member told that it no longer belongs to the group: it must abort and start again",
        VOID,
    ),
    _scenario(
        CTP,
        "",
        "Exactly-once from topic to topic: commit unanswered, coordinator and member killed",
        ANSWER_LOST,
        COORDINATOR_KILLED,
        KILLED_OPEN,
    ),
    Scenario(
        name=_BEFORE.name,
        title="A group that commits first, killed between its commit and its effects: at-most-once",
        subject=_BEFORE,
        workload=WORKLOAD,
        schedule=(
            At(
                name="killed after its commit",
                progress=0.1,
                during=passing("response", "OffsetCommit"),
                do=KillMember(member=WHO),
            ),
        ),
        claims=claims(
            _BEFORE,
            most=HOLDS,
            least=violated("lost-output", "offset-ahead"),
            exactly=violated("lost-output", "offset-ahead"),
            hazards=frozenset({ABANDONED}),
        ),
        seconds=40,
    ),
    Scenario(
        name=_AFTER.name,
        title="A group that commits last, killed between its effects and its commit: at-least-once",
        subject=_AFTER,
        workload=WORKLOAD,
        schedule=(
            At(
                name="killed before its commit",
                progress=0.1,
                during=passing("response", "Produce"),
                do=KillMember(member=WHO),
            ),
        ),
        claims=claims(
            _AFTER,
            most=violated("duplicate-output"),
            least=HOLDS,
            exactly=violated("duplicate-output"),
        ),
        seconds=40,
    ),
)
