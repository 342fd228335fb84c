"""Kafka Streams: its exactly-once guarantee under the worst faults, and its default setting."""

from __future__ import annotations

from dataclasses import replace

from onceproof.harness.faults.kill import Kill
from onceproof.harness.faults.messages.hit_message import HitMessage
from onceproof.harness.faults.pause import Pause
from onceproof.harness.faults.targets.brokers import CoordinatorOf
from onceproof.harness.faults.targets.member import Member
from onceproof.harness.schedule.scenario import Scenario, ScheduledFault
from onceproof.harness.subjects.group.hazards import REPLAYED
from onceproof.harness.subjects.kafka_streams import KafkaStreams
from onceproof.scenarios.base import DUPLICATES, HOLDS, UNEXERCISED, WRONG
from onceproof.scenarios.groups import WHO, WORKLOAD, claims, passing

_PRODUCER = f"{WHO}-StreamThread-1-producer"
_EXACTLY = KafkaStreams()
_AT_LEAST = KafkaStreams(guarantee="at_least_once")
_BALANCES = KafkaStreams(balances=True)
_BALANCES_AT_LEAST = KafkaStreams(balances=True, guarantee="at_least_once")


def _killed(subject: KafkaStreams) -> ScheduledFault:
    in_transaction = passing("response", "TxnOffsetCommit", who=_PRODUCER)
    # It writes to several topics: a record in a store's changelog is not yet an effect.
    written = passing("response", "Produce", who=_PRODUCER, topic=subject.sink)
    return ScheduledFault(
        name="killed with uncommitted effects",
        progress=0.1,
        during=in_transaction if subject.guarantee == "exactly_once_v2" else written,
        do=Kill(Member(name=WHO)),
    )


_UNANSWERED = ScheduledFault(
    name="commit response lost",
    progress=0.1,
    do=HitMessage(message=passing("response", "EndTxn", who=_PRODUCER), action="close-before"),
)
_COORDINATOR = ScheduledFault(
    name="group coordinator killed",
    after=(_UNANSWERED.name,),
    during=passing("request", "TxnOffsetCommit", who=_PRODUCER),
    do=Kill(CoordinatorOf(of="group", name=_EXACTLY.group)),
)
_ZOMBIE = ScheduledFault(
    name="zombie",
    progress=0.1,
    during=passing("request", "Produce", who=_PRODUCER),
    do=Pause(Member(name=WHO)),
)


def _faults(subject: KafkaStreams) -> tuple[ScheduledFault, ...]:
    return (_UNANSWERED, _COORDINATOR, replace(_killed(subject), after=(_COORDINATOR.name,)))


_UNDER_FAULTS = Scenario(
    name=_EXACTLY.name,
    title="Kafka Streams, exactly-once: commit response lost, coordinator and instance killed",
    subject=_EXACTLY,
    workload=WORKLOAD,
    schedule=_faults(_EXACTLY),
    claims=claims(_EXACTLY, most=HOLDS, least=HOLDS, exactly=HOLDS),
    seconds=55,
)

SCENARIOS = (
    replace(
        _UNDER_FAULTS,
        name=f"{_EXACTLY.name}-quiet",
        title="Kafka Streams, exactly-once, without faults: nothing is tested",
        schedule=(),
        claims=claims(_EXACTLY, most=UNEXERCISED, least=UNEXERCISED, exactly=UNEXERCISED),
        seconds=25,
    ),
    _UNDER_FAULTS,
    replace(
        _UNDER_FAULTS,
        name=f"{_EXACTLY.name}-paused",
        title="Kafka Streams, exactly-once: an instance paused until the other takes over",
        schedule=(_ZOMBIE,),
        seconds=50,
    ),
    replace(
        _UNDER_FAULTS,
        name=_AT_LEAST.name,
        title="The broken twin: Kafka Streams with default settings, an instance killed",
        subject=_AT_LEAST,
        schedule=(_killed(_AT_LEAST),),
        claims=claims(
            _AT_LEAST,
            most=DUPLICATES,
            least=HOLDS,
            exactly=DUPLICATES,
            hazards=frozenset({REPLAYED}),
        ),
        seconds=40,
    ),
    replace(
        _UNDER_FAULTS,
        name=_BALANCES.name,
        title="Kafka Streams, exactly-once, with a state store: every balance is right to the cent",
        subject=_BALANCES,
        schedule=_faults(_BALANCES),
        claims=claims(_BALANCES, most=None, least=None, exactly=HOLDS),
    ),
    replace(
        _UNDER_FAULTS,
        name=_BALANCES_AT_LEAST.name,
        title="The broken twin: a state store without exactly-once: balances are too high",
        subject=_BALANCES_AT_LEAST,
        schedule=(_killed(_BALANCES_AT_LEAST),),
        claims=claims(
            _BALANCES_AT_LEAST,
            most=None,
            least=None,
            exactly=WRONG,
            hazards=frozenset({REPLAYED}),
        ),
        seconds=40,
    ),
)
