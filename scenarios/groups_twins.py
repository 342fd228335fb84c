"""Broken twins of the consumer groups: each leaves out one thing, and is found out."""

from __future__ import annotations

from checkers.claims import at_least_once, exactly_once
from harness.faults.kill_member import KillMember
from harness.scenario import At, Scenario
from harness.subjects.group.hazards import REPLAYED
from harness.subjects.group.service import VIEW
from harness.subjects.group.subject import CALLS, ConsumerGroup
from scenarios.groups import (
    HOLDS,
    KILLED_OPEN,
    PAUSED_OPEN,
    VOID,
    WHO,
    WORKLOAD,
    claims,
    passing,
    violated,
)

_STRANGER = ConsumerGroup(without="group-metadata")
_FORWARD = ConsumerGroup(without="rewind")
_AUTOMATIC = ConsumerGroup(commits="automatically")
_CALLS = ConsumerGroup(calls=True)

SCENARIOS = (
    Scenario(
        name=_STRANGER.name,
        title="Transactions that do not know the group's generation: a zombie's commit is taken",
        subject=_STRANGER,
        workload=WORKLOAD,
        schedule=(PAUSED_OPEN,),
        claims=claims(
            _STRANGER,
            most=violated("duplicate-output"),
            least=HOLDS,
            exactly=violated("duplicate-output", "offset-regressed"),
        ),
        seconds=45,
    ),
    Scenario(
        name=_FORWARD.name,
        title="A member that goes on where it was after an abort: what was aborted is never redone",
        subject=_FORWARD,
        workload=WORKLOAD,
        schedule=(VOID,),
        claims=claims(
            _FORWARD,
            most=None,
            least=violated("lost-output", "offset-ahead"),
            exactly=violated("lost-output", "offset-ahead"),
        ),
        seconds=40,
    ),
    Scenario(
        name=_AUTOMATIC.name,
        title="A group whose client commits in the background, killed between two of its commits",
        subject=_AUTOMATIC,
        workload=WORKLOAD,
        schedule=(
            At(
                name="killed amid its work",
                progress=0.1,
                during=passing("response", "Produce", nth=10),
                do=KillMember(member=WHO),
            ),
        ),
        claims=claims(
            _AUTOMATIC,
            most=violated("duplicate-output"),
            least=None,
            exactly=violated("duplicate-output"),
        ),
        seconds=40,
    ),
    Scenario(
        name=_CALLS.name,
        title="A call to a service amid an exactly-once pipeline: Kafka's part holds, the call not",
        subject=_CALLS,
        workload=WORKLOAD,
        schedule=(KILLED_OPEN,),
        claims=(
            *claims(_CALLS, most=HOLDS, least=HOLDS, exactly=HOLDS),
            at_least_once(WORKLOAD.topic, into=CALLS, view=VIEW, hazards={REPLAYED}, expect=HOLDS),
            exactly_once(
                WORKLOAD.topic,
                into=CALLS,
                view=VIEW,
                hazards={REPLAYED},
                expect=violated("duplicate-output"),
            ),
        ),
        seconds=45,
    ),
)
