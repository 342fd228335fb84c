"""Stream libraries: their exactly-once under the worst faults, and their default setting."""

from __future__ import annotations

from dataclasses import replace

from onceproof.checkers.model import Expectation
from onceproof.harness.faults.kill import Kill
from onceproof.harness.faults.messages.hit_message import HitMessage
from onceproof.harness.faults.targets.brokers import CoordinatorOf
from onceproof.harness.faults.targets.member import Member
from onceproof.harness.schedule.scenario import Scenario, ScheduledFault
from onceproof.harness.subjects.group.hazards import REPLAYED
from onceproof.harness.subjects.streams.base import StreamsSubject
from onceproof.harness.subjects.streams.faust import Faust
from onceproof.harness.subjects.streams.kafka_streams import KafkaStreams
from onceproof.harness.subjects.streams.quix import Quix
from onceproof.scenarios.base import DUPLICATES, HOLDS, UNEXERCISED, WRONG, violated
from onceproof.scenarios.groups import WHO, WORKLOAD, claims, passing, zombie


def _killed(subject: StreamsSubject, producer: str) -> ScheduledFault:
    in_transaction = passing("response", "TxnOffsetCommit", who=producer)
    # It writes to several topics: a record in a store's changelog is not yet an effect.
    written = passing("response", "Produce", who=producer, topic=subject.sink)
    return ScheduledFault(
        name="killed with uncommitted effects",
        progress=0.1,
        during=in_transaction if subject.exactly else written,
        do=Kill(Member(name=WHO)),
    )


def _faults(subject: StreamsSubject, producer: str) -> tuple[ScheduledFault, ...]:
    unanswered = ScheduledFault(
        name="commit response lost",
        progress=0.1,
        do=HitMessage(message=passing("response", "EndTxn", who=producer), action="close-before"),
    )
    coordinator = ScheduledFault(
        name="group coordinator killed",
        after=(unanswered.name,),
        during=passing("request", "TxnOffsetCommit", who=producer),
        do=Kill(CoordinatorOf(of="group", name=subject.group)),
    )
    killed = replace(_killed(subject, producer), after=(coordinator.name,))
    return (unanswered, coordinator, killed)


def of_library(exactly: StreamsSubject, *, title: str, producer: str = WHO) -> tuple[Scenario, ...]:
    """Return the scenarios of one library: with exactly-once, with its default, and with state.

    Args:
        producer: the client id of the producer that faults target.
    """
    balances = replace(exactly, balances=True)
    under_faults = Scenario(
        name=exactly.name,
        title=f"{title}, exactly-once: commit response lost, coordinator and instance killed",
        subject=exactly,
        workload=WORKLOAD,
        schedule=_faults(exactly, producer),
        claims=claims(exactly, most=HOLDS, least=HOLDS, exactly=HOLDS),
        seconds=55,
    )
    return (
        _quiet(exactly, title),
        under_faults,
        replace(
            under_faults,
            name=f"{exactly.name}-paused",
            title=f"{title}, exactly-once: an instance paused until the other takes over",
            schedule=(zombie("Produce", who=producer),),
            seconds=50,
        ),
        _by_default(exactly, title, producer),
        replace(
            under_faults,
            name=balances.name,
            title=f"{title}, exactly-once, with a state store: every balance is right to the cent",
            subject=balances,
            schedule=_faults(balances, producer),
            claims=claims(balances, most=None, least=None, exactly=HOLDS),
        ),
    )


def _quiet(subject: StreamsSubject, title: str) -> Scenario:
    return Scenario(
        name=f"{subject.name}-quiet",
        title=f"{title}, exactly-once, without faults: nothing is tested",
        subject=subject,
        workload=WORKLOAD,
        schedule=(),
        claims=claims(subject, most=UNEXERCISED, least=UNEXERCISED, exactly=UNEXERCISED),
        seconds=25,
    )


def _by_default(exactly: StreamsSubject, title: str, producer: str = WHO) -> Scenario:
    """Return the broken twin of a library without state."""
    subject = replace(exactly, exactly=False)
    return _once_killed(
        subject,
        f"The broken twin: {title} with default settings, an instance killed",
        producer,
        most=DUPLICATES,
        least=HOLDS,
        exactly=DUPLICATES,
    )


def _wrong_balances(subject: StreamsSubject, title: str, producer: str = WHO) -> Scenario:
    """Return the broken twin of a library with state."""
    title = f"The broken twin: {title}, an instance killed"
    return _once_killed(subject, title, producer, exactly=WRONG)


def _once_killed(
    subject: StreamsSubject,
    title: str,
    producer: str = WHO,
    *,
    most: Expectation | None = None,
    least: Expectation | None = None,
    exactly: Expectation,
) -> Scenario:
    """Return a scenario in which records are processed again after a kill."""
    replayed = frozenset({REPLAYED})
    return Scenario(
        name=subject.name,
        title=title,
        subject=subject,
        workload=WORKLOAD,
        schedule=(_killed(subject, producer),),
        claims=claims(subject, most=most, least=least, exactly=exactly, hazards=replayed),
        seconds=40,
    )


_BY_COUNT = Quix(commit_every=1_500)
"""Commits so rarely that a zombie reads again before its next commit."""
_LOST_AND_COMMITTED = Scenario(
    name=f"{_BY_COUNT.name}-paused",
    title="Quix Streams, exactly-once, with rare commits: an instance paused until the other "
    "takes over",
    subject=_BY_COUNT,
    workload=WORKLOAD,
    schedule=(zombie("Produce"),),
    # See docs/findings/quix-commits-lost-partitions.md.
    claims=claims(_BY_COUNT, most=DUPLICATES, least=None, exactly=DUPLICATES),
    seconds=60,
)

_FAUST = Faust()
_FAUST_KILLED = _once_killed(
    _FAUST,
    "faust-streaming, exactly-once: an instance killed",
    most=DUPLICATES,
    # See docs/findings/faust-outside-transactions.md.
    exactly=violated("duplicate-output", may={"lost-output", "offset-ahead"}),
)
_THREAD = f"{WHO}-StreamThread-1-producer"

SCENARIOS = (
    *of_library(KafkaStreams(), title="Kafka Streams", producer=_THREAD),
    _wrong_balances(
        KafkaStreams(exactly=False, balances=True),
        "a Kafka Streams store without exactly-once, so that balances are too high",
        _THREAD,
    ),
    *of_library(Quix(), title="Quix Streams"),
    # Not its default, whose changelog says which records are in the state: none is added again.
    _wrong_balances(
        Quix(balances=True, variable=True),
        "Quix Streams with balances in a variable, which a restarted program has lost",
    ),
    _LOST_AND_COMMITTED,
    _quiet(_FAUST, "faust-streaming"),
    _FAUST_KILLED,
    _by_default(_FAUST, "faust-streaming"),
)
