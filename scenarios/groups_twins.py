"""Broken twins of the consumer groups: each leaves out one thing, and must be found violated."""

from __future__ import annotations

from onceproof.harness.faults.kill import Kill
from onceproof.harness.faults.targets.member import Member
from onceproof.harness.schedule.scenario import Scenario, ScheduledFault
from onceproof.harness.subjects.group.clients import Client
from onceproof.harness.subjects.group.hazards import ABORTED, REPLAYED, UNWRITTEN
from onceproof.harness.subjects.group.service import VIEW
from onceproof.harness.subjects.group.subject import CALLS, ConsumerGroup
from onceproof.harness.subjects.group.task import Protocol
from onceproof.scenarios import base
from onceproof.scenarios.base import DUPLICATES, HOLDS, LOST, violated
from onceproof.scenarios.groups import (
    EFFECTS_REJECTED,
    KILLED_IN_TRANSACTION,
    TRANSACTION_ERROR,
    WHO,
    WORKLOAD,
    ZOMBIE,
    claims,
    passing,
)

_AUTOMATIC = ConsumerGroup(commits="automatically")
_CALLS = ConsumerGroup(calls=True)


def _without_group_metadata(client: Client, protocol: Protocol = "classic") -> Scenario:
    subject = ConsumerGroup(client=client, without="group-metadata", protocol=protocol)
    return Scenario(
        name=subject.name,
        title="Transactions without the group's generation accept a zombie's commit",
        subject=subject,
        workload=WORKLOAD,
        # This point precedes the sending of offsets in every client.
        schedule=(ZOMBIE["librdkafka"],),
        transaction_version=1,
        claims=claims(
            subject,
            most=DUPLICATES,
            least=HOLDS,
            exactly=violated("duplicate-output", "offset-regressed"),
            hazards=frozenset({REPLAYED}),
        ),
        seconds=45,
    )


def _without_rewind(client: Client, protocol: Protocol = "classic") -> Scenario:
    # One member: if another joined now, partitions would be read again from committed offsets.
    subject = ConsumerGroup(client=client, without="rewind", members=1, protocol=protocol)
    return Scenario(
        name=subject.name,
        title="A member that does not rewind after an abort: the aborted records are lost",
        subject=subject,
        workload=WORKLOAD,
        schedule=(TRANSACTION_ERROR[client],),
        claims=claims(subject, most=None, least=LOST, exactly=LOST),
        seconds=40,
    )


_UNCHECKED = ConsumerGroup(client="aiokafka", without="outcomes")
SCENARIOS = (
    _without_group_metadata("librdkafka"),
    _without_rewind("librdkafka"),
    _without_group_metadata("java"),
    _without_rewind("java"),
    _without_rewind("kafka-python"),
    _without_rewind("franz-go"),
    _without_rewind("sarama"),  # as in its own example
    _without_rewind("kafkajs"),
    _without_rewind("confluent-javascript"),
    _without_group_metadata("librdkafka", "consumer"),
    _without_rewind("librdkafka", "consumer"),
    _without_group_metadata("java", "consumer"),
    _without_rewind("java", "consumer"),
    Scenario(
        name=_UNCHECKED.name,
        title="A member that commits without checking its sends: some clients allow it",
        subject=_UNCHECKED,
        workload=WORKLOAD,
        schedule=(EFFECTS_REJECTED,),
        claims=claims(
            _UNCHECKED,
            most=None,
            least=LOST,
            exactly=LOST,
            hazards=frozenset({UNWRITTEN}),
        ),
        seconds=40,
    ),
    Scenario(
        name=_AUTOMATIC.name,
        title="A group whose client commits in the background, killed during a commit",
        subject=_AUTOMATIC,
        workload=WORKLOAD,
        schedule=(
            ScheduledFault(
                name="killed at its commit",
                progress=0.1,
                # The lost commit means that everything since the previous one is processed again. A
                # kill at a random moment might leave nothing to process again.
                during=passing("request", "OffsetCommit"),
                lost=True,
                do=Kill(Member(name=WHO)),
            ),
        ),
        claims=claims(
            _AUTOMATIC,
            most=DUPLICATES,
            least=None,
            exactly=DUPLICATES,
        ),
        seconds=40,
    ),
    Scenario(
        name=_CALLS.name,
        title="A service call in an exactly-once pipeline: exactly-once does not cover the call",
        subject=_CALLS,
        workload=WORKLOAD,
        schedule=(KILLED_IN_TRANSACTION,),
        claims=(
            *claims(_CALLS, most=HOLDS, least=HOLDS, exactly=HOLDS),
            *base.claims(
                WORKLOAD.topic,
                CALLS,
                VIEW,
                least=HOLDS,
                exactly=DUPLICATES,
                hazards={ABORTED},
            ),
        ),
        seconds=45,
    ),
)
