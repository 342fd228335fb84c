"""Spring for Apache Kafka: transactions of its listener containers, and two of its defaults."""

from __future__ import annotations

from dataclasses import replace

from onceproof.checkers.model import Expectation
from onceproof.harness.faults.kill import Kill
from onceproof.harness.faults.messages.hit_message import HitMessage
from onceproof.harness.faults.targets.brokers import CoordinatorOf
from onceproof.harness.faults.until import Lasted
from onceproof.harness.schedule.scenario import Scenario, ScheduledFault
from onceproof.harness.subjects.group.hazards import UNWRITTEN
from onceproof.harness.subjects.group.spring import Spring
from onceproof.scenarios.base import HOLDS, LOST, UNEXERCISED
from onceproof.scenarios.groups import (
    COMMIT_RESPONSE_LOST,
    COORDINATOR_KILLED,
    KILLED_IN_TRANSACTION,
    TRANSACTION_ERROR,
    WHO,
    WORKLOAD,
    ZOMBIE,
    claims,
    passing,
)

_SPRING = Spring()
_NO_REWIND = Spring(rewind=False, members=1)
_SHORT = Spring(transaction_seconds=3)
_GOES_ON = Spring(fenced="goes-on", members=1, transaction_seconds=3)
_BY_RECORD = Spring(listener="record", members=1)
_TEN_ATTEMPTS = Spring(listener="record", attempts="ten", members=1)
_FEW = replace(WORKLOAD, records=160, rate=20)
"""For a transaction per record."""
_COORDINATOR_KILLED = replace(
    COORDINATOR_KILLED,
    do=Kill(CoordinatorOf(of="transaction", name=f"{_SPRING.group}-{WHO}-0")),
    after=(COMMIT_RESPONSE_LOST.name,),
)
_FENCED = ScheduledFault(
    name="commit held until its transaction has timed out",
    progress=0.1,
    do=HitMessage(
        message=replace(passing("request", "EndTxn"), commits=True), action="hold", times=None
    ),
    # From when it is armed: until the second commit, and then longer than the time-out.
    until=Lasted(seconds=12.0),
)
_REJECTED = ScheduledFault(
    name="effects rejected",
    progress=0.1,
    do=HitMessage(
        message=passing("request", "Produce"),
        action="error",
        error="MESSAGE_SIZE_TOO_LARGE",
        times=None,
    ),
    until=Lasted(seconds=30.0),  # for more than ten attempts, also on a slow machine
)
_ALL_HOLD = claims(_SPRING, most=HOLDS, least=HOLDS, exactly=HOLDS)
_UNDER_FAULTS = Scenario(
    name=_SPRING.name,
    title="Spring for Apache Kafka: commit response lost, coordinator and instance killed",
    subject=_SPRING,
    workload=WORKLOAD,
    schedule=(
        COMMIT_RESPONSE_LOST,
        _COORDINATOR_KILLED,
        replace(KILLED_IN_TRANSACTION, after=(_COORDINATOR_KILLED.name,)),
    ),
    claims=_ALL_HOLD,
    seconds=55,
)


def _told(story: str, title: str, fault: ScheduledFault) -> Scenario:
    return replace(
        _UNDER_FAULTS, name=f"{_SPRING.name}-{story}", title=title, schedule=(fault,), seconds=45
    )


def _loses(subject: Spring, title: str, fault: ScheduledFault) -> Scenario:
    """Return a broken twin."""
    return replace(
        _UNDER_FAULTS,
        name=subject.name,
        title=f"The broken twin: {title}",
        subject=subject,
        schedule=(fault,),
        claims=claims(subject, most=None, least=LOST, exactly=LOST),
        seconds=40,
    )


def _refused(subject: Spring, name: str, title: str, expected: Expectation) -> Scenario:
    """Return a scenario in which a broker rejects records for a while."""
    hazards = frozenset({UNWRITTEN})
    return replace(
        _UNDER_FAULTS,
        name=name,
        title=title,
        subject=subject,
        workload=_FEW,
        # On version 2 nothing in the log tells of a transaction whose only record was rejected.
        transaction_version=1,
        schedule=(_REJECTED,),
        claims=claims(subject, most=None, least=expected, exactly=None, hazards=hazards),
        seconds=60,
    )


SCENARIOS = (
    replace(
        _UNDER_FAULTS,
        name=f"{_SPRING.name}-quiet",
        title="Spring for Apache Kafka without faults: nothing is tested",
        schedule=(),
        claims=claims(_SPRING, most=UNEXERCISED, least=UNEXERCISED, exactly=UNEXERCISED),
        seconds=25,
    ),
    _UNDER_FAULTS,
    _told("paused", "A container paused until others take over", ZOMBIE["java"]),
    _told("void", "A container told to abort: it must read again", TRANSACTION_ERROR["java"]),
    replace(
        _told("fenced", "A container whose transaction has timed out: it stops", _FENCED),
        subject=_SHORT,
        # On version 2 it is told something else, and rolls back.
        transaction_version=1,
    ),
    _loses(_NO_REWIND, "a rollback that does not rewind", TRANSACTION_ERROR["java"]),
    # See docs/findings/spring-goes-on-when-fenced.md.
    replace(
        _loses(
            _GOES_ON,
            "Spring's default, a container that goes on when its transaction has timed out",
            _FENCED,
        ),
        transaction_version=1,
    ),
    _refused(
        _BY_RECORD,
        f"{_BY_RECORD.name}-refused",
        "Records that a broker rejects for a while, tried again without a limit",
        HOLDS,
    ),
    _refused(
        _TEN_ATTEMPTS,
        _TEN_ATTEMPTS.name,
        "The broken twin: Spring's default, a record skipped after ten attempts",
        LOST,
    ),
)
