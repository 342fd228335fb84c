"""Idempotent producers of every client: a retry never writes twice, or out of order.

Each broken twin lacks one thing: idempotence, acks=all, or an application that waits long enough.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from onceproof.checkers.claims import (
    at_least_once_append,
    at_most_once_append,
    exactly_once_append,
    idempotent_append,
    ordered_append,
)
from onceproof.checkers.model import Claim, Expectation
from onceproof.harness.faults.kill import Kill
from onceproof.harness.faults.links.delay import Delay
from onceproof.harness.faults.links.isolate_broker import IsolateBroker
from onceproof.harness.faults.links.unanswered import LeaveUnanswered
from onceproof.harness.faults.targets.brokers import AHEAD, LeaderOf
from onceproof.harness.faults.until import Acknowledged
from onceproof.harness.schedule.scenario import Scenario, ScheduledFault
from onceproof.harness.subjects.observed import Observer
from onceproof.harness.subjects.producer import ProducerSubject
from onceproof.harness.workload.payments import Payments
from onceproof.harness.workload.senders.aiokafka import AIOKAFKA
from onceproof.harness.workload.senders.base import Sender
from onceproof.harness.workload.senders.confluent_javascript import (
    CONFLUENT_JAVASCRIPT,
    ConfluentJavaScript,
)
from onceproof.harness.workload.senders.franz_go import FRANZ_GO, FranzGo
from onceproof.harness.workload.senders.java import JAVA
from onceproof.harness.workload.senders.kafka_python import KAFKA_PYTHON
from onceproof.harness.workload.senders.kafkajs import BY_PARTITION, KAFKAJS, KafkaJs
from onceproof.harness.workload.senders.librdkafka import LIBRDKAFKA, Librdkafka
from onceproof.harness.workload.senders.sarama import SARAMA, Sarama
from onceproof.scenarios.base import HOLDS, UNEXERCISED, claims_of_repeated_sends, violated

PAYMENTS = Payments(records=6_000, producers=2, keys=64, partitions=3)
_FEW = replace(PAYMENTS, records=2_000, rate=800)
_PROMISE = (
    "a record that it resends is in the log once, and the sends of a session to a partition keep "
    "their order"
)

WITHHELD = ScheduledFault(
    name="responses withheld", progress=0.05, do=LeaveUnanswered(target=LeaderOf(partition=0))
)
SCHEDULE = (
    WITHHELD,
    ScheduledFault(
        name="leader killed",
        after=("responses withheld",),
        do=Kill(LeaderOf(partition=1)),
    ),
    ScheduledFault(
        name="leader isolated",
        after=("leader killed",),
        do=IsolateBroker(target=LeaderOf(partition=2)),
    ),
)


def _subject(name: str, says: str) -> ProducerSubject:
    return ProducerSubject(
        name=name,
        says=says,
        observers=(Observer(isolation="read_committed"),),
        topics=PAYMENTS.topics,
    )


_EVERY = (
    at_most_once_append,
    at_least_once_append,
    exactly_once_append,
    idempotent_append,
    ordered_append,
)


def _claims(expect: Expectation, of: Iterable[Callable[..., Claim]] = _EVERY) -> tuple[Claim, ...]:
    return tuple(claim(PAYMENTS.topic, hazards={"retried-send"}, expect=expect) for claim in of)


def of_client(sender: Sender) -> tuple[Scenario, ...]:
    """Return the scenarios of one client: without faults, and under the worst ones."""
    subject = _subject(
        f"idempotent-{sender.name}", f"The idempotent producer of {sender.name}: {_PROMISE}."
    )
    faulted = Scenario(
        name=subject.name,
        title=f"Idempotent sends by {sender.name}: responses lost, a leader killed, one isolated",
        subject=subject,
        sender=sender,
        workload=PAYMENTS,
        schedule=SCHEDULE,
        claims=_claims(HOLDS),
        seconds=50,
    )
    quiet = replace(
        faulted,
        name=f"{subject.name}-quiet",
        title=f"Idempotent sends by {sender.name} without faults: nothing is tested",
        workload=_FEW,
        schedule=(),
        claims=_claims(UNEXERCISED),
        seconds=15,
    )
    return faulted, quiet


def off(sender: Sender) -> Scenario:
    """Return the broken twin of a client: `sender` is not idempotent."""
    return Scenario(
        name=f"idempotent-{sender.name}-off",
        title="The broken twin: retries without idempotence, so records are appended twice",
        subject=_subject(
            f"retrying-{sender.name}",
            f"A {sender.name} producer that retries without idempotence: at-least-once.",
        ),
        sender=sender,
        workload=PAYMENTS,
        schedule=(WITHHELD,),
        claims=claims_of_repeated_sends(PAYMENTS.topic),
        seconds=25,
    )


_ACKS_1 = Scenario(
    name="idempotent-librdkafka-acks-1",
    title="The broken twin: acks=1, and the leader is killed with records that only it has",
    subject=_subject(
        "acks-1-librdkafka",
        "A librdkafka producer with acks=1: if the leader dies, acknowledged records that no other "
        "replica has are lost.",
    ),
    sender=Librdkafka(idempotent=False, acks="1"),
    workload=PAYMENTS,
    schedule=(
        ScheduledFault(
            name="leader killed ahead of its followers",
            progress=0.05,
            do=Kill(LeaderOf(partition=0), at=AHEAD),
        ),
    ),
    claims=(
        # Another record now has the lost one's offset: one offset, two records. A record that a
        # follower had replicated, but that the leader had not acknowledged, is sent again.
        at_most_once_append(
            PAYMENTS.topic, expect=violated("inconsistent-offsets", may=("duplicate",))
        ),
        at_least_once_append(PAYMENTS.topic, expect=violated("inconsistent-offsets", "lost-write")),
        exactly_once_append(
            PAYMENTS.topic,
            expect=violated("inconsistent-offsets", "lost-write", may=("duplicate",)),
        ),
    ),
    seconds=35,
)
_RESENDS = Scenario(
    name="idempotent-librdkafka-resends",
    title="The broken twin: an idempotent producer whose application resends after a time-out",
    subject=_subject(
        "resending-librdkafka",
        "An idempotent librdkafka producer whose application gives up on a send after two seconds "
        "and sends the record again: the producer's idempotence does not cover such resends.",
    ),
    sender=Librdkafka(resend_seconds=2.0),
    workload=PAYMENTS,
    schedule=(replace(WITHHELD, do=LeaveUnanswered(target=LeaderOf(partition=0), seconds=5.0)),),
    claims=claims_of_repeated_sends(PAYMENTS.topic),
    seconds=30,
)
_SLOW = ScheduledFault(
    name="one broker slow",
    progress=0.1,
    # So that a call has records for every partition, and another leader has answered when its
    # partition moves.
    do=Delay(source="producer", target=LeaderOf(partition=0), way="responses", milliseconds=500),
    until=Acknowledged(records=2_000),
)
_ISOLATED = ScheduledFault(
    name="leader isolated", progress=0.15, do=IsolateBroker(target=LeaderOf(partition=2))
)
_LEAVES_OUT = replace(
    of_client(KAFKAJS)[0],
    title="Idempotent sends by kafkajs to several brokers, one of them slow, another isolated",
    schedule=(_SLOW, _ISOLATED),
    # It leaves out records whose partition moves to a broker that has answered, and sends those
    # again that are on their way: docs/findings/kafkajs-leaves-out.md, kafkajs-sends-again.md.
    # Which of them depends on where the partition moves to.
    claims=_claims(
        violated(may={"lost-write", "duplicate"}), [exactly_once_append, idempotent_append]
    ),
)

SCENARIOS = (
    *of_client(LIBRDKAFKA),
    off(Librdkafka(idempotent=False)),
    _ACKS_1,
    _RESENDS,
    *of_client(KAFKA_PYTHON),
    *of_client(AIOKAFKA),
    *of_client(JAVA),
    *of_client(FRANZ_GO),
    off(FranzGo(idempotent=False)),
    *of_client(SARAMA),
    off(Sarama(idempotent=False)),
    _LEAVES_OUT,
    *of_client(BY_PARTITION),
    off(KafkaJs(idempotent=False)),
    *of_client(CONFLUENT_JAVASCRIPT),
    off(ConfluentJavaScript(idempotent=False)),
)
