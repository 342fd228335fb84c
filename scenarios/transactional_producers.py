"""Transactions in every client: all of a transaction is committed, or none of it.

Each transaction writes to three partitions of two topics, and some are aborted on purpose. Two
observers read all the time, one with read_committed. A zombie, whose successor has its
transactional id, must commit nothing. The broken twin has a reader that wrongly assumes that it
reads committed records only.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from onceproof.checkers.claims import (
    at_least_once_append,
    at_most_once_append,
    atomic_append,
    exactly_once_append,
)
from onceproof.checkers.model import Claim, Expectation, Verdict
from onceproof.harness.faults.kill import Kill
from onceproof.harness.faults.links.delay import Delay
from onceproof.harness.faults.links.unanswered import LeaveUnanswered
from onceproof.harness.faults.messages.hit_message import HitMessage
from onceproof.harness.faults.messages.message import Message
from onceproof.harness.faults.targets.brokers import CoordinatorOf, LeaderOf
from onceproof.harness.faults.transactions.zombie_sender import ZombieSender
from onceproof.harness.faults.until import Acknowledged
from onceproof.harness.schedule.scenario import Scenario, ScheduledFault
from onceproof.harness.subjects.observed import Observer
from onceproof.harness.subjects.producer import ProducerSubject
from onceproof.harness.workload.payments import Payments
from onceproof.harness.workload.senders.aiokafka import AIOKAFKA
from onceproof.harness.workload.senders.base import Sender
from onceproof.harness.workload.senders.confluent_javascript import CONFLUENT_JAVASCRIPT
from onceproof.harness.workload.senders.franz_go import FRANZ_GO
from onceproof.harness.workload.senders.java import JAVA
from onceproof.harness.workload.senders.kafka_python import KAFKA_PYTHON
from onceproof.harness.workload.senders.kafkajs import BY_PARTITION, KAFKAJS
from onceproof.harness.workload.senders.librdkafka import LIBRDKAFKA
from onceproof.harness.workload.senders.sarama import SARAMA
from onceproof.scenarios.base import HOLDS, UNEXERCISED, violated

PAYMENTS = Payments(
    records=2_400,
    producers=2,
    keys=64,
    partitions=3,
    transaction=6,
    other_topic="refunds",
    aborts=17,
)
_QUIET = replace(PAYMENTS, records=1_200)
_END = Message(source="producer", direction="request", api="EndTxn", client_id="producer-0")
_ENDED = replace(_END, direction="response", commits=True, refused=False)
_UNANSWERED = ScheduledFault(
    name="EndTxn unanswered", progress=0.05, do=HitMessage(message=_ENDED, action="close-before")
)
_RESPONSE_LOST = ScheduledFault(
    name="EndTxn response lost",
    after=("EndTxn unanswered",),
    do=HitMessage(message=_ENDED, action="drop"),
)
_RESPONSES_WITHHELD = ScheduledFault(
    name="responses withheld",
    after=("EndTxn response lost",),
    do=LeaveUnanswered(target=LeaderOf(partition=0)),
)
_KILLED = ScheduledFault(
    name="coordinator killed during EndTxn",
    after=("responses withheld",),
    do=Kill(CoordinatorOf(of="transaction", name="producer-0")),
    during=_END,
)
SCHEDULE = (_UNANSWERED, _RESPONSE_LOST, _RESPONSES_WITHHELD, _KILLED)
_ZOMBIE = ScheduledFault(name="zombie during EndTxn", progress=0.1, do=ZombieSender(), during=_END)
_STALLED = Expectation(verdict=Verdict.STALLED)
"""kafka-python 3.0.12 drops a request when its coordinator is gone, and still waits for the
response: see docs/findings/kafka-python-dead-coordinator.md."""
_SEEN = violated("aborted-read", "precommitted-read")
_COMMITTED = Observer(isolation="read_committed")
_UNCOMMITTED = Observer(isolation="read_uncommitted")
_Claims = Callable[..., Claim]


def _subject(sender: Sender, *observers: Observer) -> ProducerSubject:
    return ProducerSubject(
        name=f"transactional-{sender.name}",
        says=f"Transactions by {sender.name} over partitions of two topics: a transaction is "
        "committed as a whole or not at all, and a read_committed consumer sees committed records "
        "only.",
        observers=observers,
        topics=PAYMENTS.topics,
    )


def _claims(expect: Expectation, *of: _Claims, hazards: frozenset[str]) -> tuple[Claim, ...]:
    return tuple(
        claim(topic, hazards=hazards, expect=expect) for topic in PAYMENTS.topics for claim in of
    )


def of_client(
    sender: Sender, expect: Expectation = HOLDS, schedule: tuple[ScheduledFault, ...] = SCHEDULE
) -> tuple[Scenario, ...]:
    """Return one client's scenarios: under the worst faults, with a zombie, without faults."""
    every = (at_most_once_append, at_least_once_append, exactly_once_append, atomic_append)
    hazards = frozenset({"unknown-end"})
    faulted = Scenario(
        name=f"transactional-{sender.name}",
        title=f"Transactions by {sender.name}: responses to EndTxn lost, the coordinator killed",
        subject=_subject(sender, _COMMITTED, _UNCOMMITTED),
        sender=sender,
        workload=PAYMENTS,
        schedule=schedule,
        claims=_claims(expect, *every, hazards=hazards),
        seconds=50,
    )
    quiet = replace(
        faulted,
        name=f"{faulted.name}-quiet",
        title=f"Transactions by {sender.name} without faults: nothing is tested",
        workload=_QUIET,
        schedule=(),
        claims=_claims(UNEXERCISED, *every, hazards=hazards),
        seconds=20,
    )
    zombie = replace(
        quiet,
        name=f"{faulted.name}-zombie",
        title=f"Transactions by {sender.name}: a sender is paused with its EndTxn in flight, "
        "another takes over its transactional id, and the first resumes",
        schedule=(_ZOMBIE,),
        claims=_claims(HOLDS, *every, hazards=frozenset({"zombie-back"})),
        seconds=25,
    )
    return faulted, zombie, quiet


_WRONG_READER = Scenario(
    name="transactional-librdkafka-uncommitted",
    title="The broken twin: a reader that should read committed records only, but reads all",
    subject=_subject(LIBRDKAFKA, Observer(isolation="read_uncommitted", believes="read_committed")),
    workload=PAYMENTS,
    schedule=SCHEDULE[:1],
    claims=_claims(_SEEN, atomic_append, hazards=frozenset()),
    seconds=25,
)
_SLOW = ScheduledFault(
    name="one broker slow",
    progress=0.1,
    # Longer than the pause before a retry.
    do=Delay(source="producer", target=LeaderOf(partition=0), way="responses", milliseconds=500),
    until=Acknowledged(records=100),
)
_REFUSED = ScheduledFault(
    name="partitions refused",
    progress=0.12,
    do=HitMessage(
        message=replace(_END, api="AddPartitionsToTxn"),
        action="error",
        error="CONCURRENT_TRANSACTIONS",
        times=10,
    ),
    until=Acknowledged(records=50),
)
_SENDS_AGAIN = Scenario(
    name="transactional-kafkajs",
    title="Transactions by KafkaJS over several brokers, one of them slow, another refused",
    subject=_subject(KAFKAJS, _COMMITTED, _UNCOMMITTED),
    sender=KAFKAJS,
    workload=PAYMENTS,
    schedule=(_SLOW, _REFUSED),
    # See docs/findings/kafkajs-sends-again.md.
    claims=_claims(
        violated("duplicate"), at_most_once_append, exactly_once_append, hazards=frozenset()
    ),
    seconds=35,
)

SCENARIOS = (
    *of_client(LIBRDKAFKA),
    _WRONG_READER,
    # It may hang as soon as its coordinator refuses a connection, so the fault that does this comes
    # last, and once: later faults would find no running sender.
    *of_client(
        KAFKA_PYTHON,
        _STALLED,
        (_UNANSWERED, _RESPONSE_LOST, replace(_KILLED, after=(_RESPONSE_LOST.name,))),
    ),
    *of_client(AIOKAFKA),
    *of_client(JAVA),
    *of_client(FRANZ_GO),
    *of_client(SARAMA),
    _SENDS_AGAIN,
    *of_client(BY_PARTITION),
    *of_client(CONFLUENT_JAVASCRIPT),
)
