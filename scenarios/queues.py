"""Queues, by JMS and by AMQP: a broker redelivers messages, and drops known duplicates.

Forwarders that are killed or paused, or whose broker is killed, get unacknowledged messages again.
A transaction makes that harmless; so do duplicate ids, while the broker remembers them. The broken
twins acknowledge too early or too late, or use a broker that forgets.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from onceproof.checkers.claims import (
    at_least_once_append,
    at_most_once_append,
    exactly_once_append,
    idempotent_append,
)
from onceproof.harness.artemis.configuration import QueueSettings
from onceproof.harness.faults.base import Fault
from onceproof.harness.faults.kill import Kill
from onceproof.harness.faults.links.cut_link import CutLink
from onceproof.harness.faults.links.lose_answers import LoseAnswers
from onceproof.harness.faults.links.lose_receipts import LoseReceipts
from onceproof.harness.faults.pause import Pause
from onceproof.harness.faults.targets.brokers import Node
from onceproof.harness.faults.targets.forwarder import Forwarder
from onceproof.harness.faults.targets.service import QueueBroker
from onceproof.harness.links.topology import ARTEMIS
from onceproof.harness.schedule.scenario import Scenario, ScheduledFault
from onceproof.harness.subjects.group.hazards import ABANDONED, REPLAYED
from onceproof.harness.subjects.producer import ProducerSubject
from onceproof.harness.subjects.queue.hazards import DROPPED, REWRITTEN
from onceproof.harness.subjects.queue.moments import AFTER_COMMIT, BEFORE_COMMIT, BEFORE_WRITE
from onceproof.harness.subjects.queue.subject import QueueForwarder
from onceproof.harness.workload.payments import Payments
from onceproof.harness.workload.senders.jms import JMS, JmsSender
from onceproof.scenarios.base import HOLDS, UNEXERCISED, claims_of_repeated_sends, violated
from onceproof.scenarios.groups import claims

_WORKLOAD: Final = Payments(records=3_000, producers=2, keys=64, partitions=1, rate=300)
_BROKER: Final = Node(name=ARTEMIS)
_TRANSACTED: Final = QueueForwarder()
_AUTO: Final = QueueForwarder(acknowledge="auto")
_CLIENT: Final = QueueForwarder(acknowledge="client")
_IDS: Final = QueueForwarder(acknowledge="client", duplicate_ids=True)
_VOLATILE_CACHE: Final = replace(_IDS, queue_broker=QueueSettings(persist_id_cache=False))
_SMALL_CACHE: Final = replace(_IDS, queue_broker=QueueSettings(id_cache_size=10))


def _scheduled(name: str, do: Fault, after: str | None = None) -> ScheduledFault:
    return ScheduledFault(
        name=name,
        progress=0.0 if after else 0.1,
        after=() if after is None else (after,),
        do=do,
    )


def _killed(moment: str, after: str | None = None) -> ScheduledFault:
    return _scheduled(f"forwarder killed {moment}", Kill(Forwarder(), at=moment), after)


_BROKER_KILLED: Final = _scheduled(
    "queue broker killed before a message is acknowledged",
    Kill(QueueBroker(), at=BEFORE_COMMIT),
)
_BOTH_KILLED: Final = (
    _killed(BEFORE_COMMIT),
    replace(_BROKER_KILLED, progress=0.0, after=(f"forwarder killed {BEFORE_COMMIT}",)),
)
_PAUSED: Final = _scheduled("zombie", Pause(Forwarder(), at=BEFORE_COMMIT))
# First, before anyone reconnects: cutting a link without connections shows no effect.
_CUT: Final = _scheduled("forwarders cut off", CutLink(source="pipeline", target=_BROKER))
_RESPONSES_LOST: Final = _scheduled(
    "responses to forwarders lost", LoseAnswers(source="pipeline", target=_BROKER), _CUT.name
)
_BROKER_PAUSED: Final = _scheduled(
    "queue broker paused", Pause(QueueBroker()), _RESPONSES_LOST.name
)
# What a forwarder is doing when its link is disturbed is chance; the final kill is certain to test
# a claim.
_NETWORK: Final = (
    _CUT,
    _RESPONSES_LOST,
    _BROKER_PAUSED,
    _killed(BEFORE_COMMIT, _BROKER_PAUSED.name),
)

_QUIET: Final = Scenario(
    name=f"{_TRANSACTED.name}-quiet",
    title="Forwarders with transacted sessions, without faults: nothing is tested",
    subject=_TRANSACTED,
    workload=replace(_WORKLOAD, records=1_000),
    sender=JMS,
    schedule=(),
    claims=claims(
        _TRANSACTED,
        most=UNEXERCISED,
        least=UNEXERCISED,
        exactly=UNEXERCISED,
        hazards=frozenset({REWRITTEN}),
    ),
    seconds=15,
)
_UNDER_FAULTS: Final = replace(
    _QUIET,
    name=_TRANSACTED.name,
    title="Forwarders with transacted sessions: forwarders and broker killed around a commit",
    workload=_WORKLOAD,
    schedule=(
        _killed(BEFORE_COMMIT),
        _killed(AFTER_COMMIT, f"forwarder killed {BEFORE_COMMIT}"),
        _scheduled(
            "queue broker killed during a transaction",
            Kill(QueueBroker(), at=BEFORE_COMMIT),
            f"forwarder killed {AFTER_COMMIT}",
        ),
    ),
    claims=claims(
        _TRANSACTED,
        most=HOLDS,
        least=HOLDS,
        exactly=HOLDS,
        hazards=frozenset({REWRITTEN}),
    ),
    seconds=30,
)


_TWICE, _LOST = "duplicate-output", "lost-output"


def _variant(
    subject: QueueForwarder,
    hazard: str,
    *,
    title: str,
    schedule: tuple[ScheduledFault, ...],
    broken: str | None = None,
    suffix: str = "",
) -> Scenario:
    """Return a scenario of other forwarders; `broken` is the anomaly that refutes their claims."""
    found = HOLDS if broken is None else violated(broken)
    return replace(
        _UNDER_FAULTS,
        name=f"{subject.name}{suffix}",
        title=title,
        subject=subject,
        schedule=schedule,
        claims=claims(
            subject,
            most=HOLDS if broken == _LOST else found,
            least=HOLDS if broken == _TWICE else found,
            exactly=found,
            hazards=frozenset({hazard}),
        ),
    )


_FORWARDERS: Final = (
    _QUIET,
    _UNDER_FAULTS,
    replace(
        _UNDER_FAULTS,
        name=f"{_TRANSACTED.name}-paused",
        title="A forwarder with a transacted session: paused and resumed as a zombie",
        schedule=(_PAUSED,),
    ),
    replace(
        _UNDER_FAULTS,
        name=f"{_TRANSACTED.name}-network",
        title="Forwarders with transacted sessions: cut off, responses lost, broker paused",
        schedule=_NETWORK,
    ),
    _variant(
        _AUTO,
        ABANDONED,
        title="AUTO_ACKNOWLEDGE: messages delivered to a forwarder that dies are lost",
        schedule=(_killed(BEFORE_WRITE),),
        broken=_LOST,
    ),
    _variant(
        _CLIENT,
        REPLAYED,
        title="CLIENT_ACKNOWLEDGE: messages written but not yet acknowledged are written again",
        schedule=(_killed(BEFORE_COMMIT),),
        broken=_TWICE,
    ),
    _variant(
        _IDS,
        DROPPED,
        title="CLIENT_ACKNOWLEDGE with duplicate ids: the broker drops messages written again",
        schedule=_BOTH_KILLED,
    ),
    _variant(
        _VOLATILE_CACHE,
        REPLAYED,
        title="The broken twin: the broker forgets the duplicate ids when it restarts",
        schedule=(_BROKER_KILLED,),
        broken=_TWICE,
    ),
    _variant(
        _SMALL_CACHE,
        REPLAYED,
        title="The broken twin: the broker remembers only the last ten duplicate ids",
        schedule=(_PAUSED,),
        broken=_TWICE,
    ),
)


_AMQP: Final = QueueForwarder(client="amqp")
_AMQP_PLAIN: Final = QueueForwarder(client="amqp", acknowledge="client")
_AMQP_IDS: Final = replace(_AMQP_PLAIN, duplicate_ids=True)
_BY_AMQP: Final = (
    _variant(
        _AMQP,
        REWRITTEN,
        title="AMQP: effect and acceptance in one transaction, killed around its commit",
        schedule=_UNDER_FAULTS.schedule,
    ),
    _variant(
        _AMQP,
        REWRITTEN,
        title="AMQP: a forwarder with transactions, paused and resumed as a zombie",
        schedule=(_PAUSED,),
        suffix="-paused",
    ),
    _variant(
        _AMQP_IDS,
        DROPPED,
        title="AMQP with duplicate ids: the broker drops messages sent again",
        schedule=_BOTH_KILLED,
    ),
    _variant(
        _AMQP_IDS,
        DROPPED,
        title="AMQP with duplicate ids: cut off, responses lost, broker paused",
        schedule=_NETWORK,
        suffix="-network",
    ),
    _variant(
        _AMQP_PLAIN,
        REPLAYED,
        title="The broken twin: AMQP without duplicate ids, killed before a message is accepted",
        schedule=(_killed(BEFORE_COMMIT),),
        broken=_TWICE,
    ),
)


_SENDING: Final = Scenario(
    name="jms-sender",
    title="A JMS application that resends unacknowledged messages, with duplicate ids",
    subject=ProducerSubject(
        name="jms-sender",
        says=(
            "A JMS application that resends after every error. Each message carries a duplicate "
            "id, by which the broker drops messages that it already has."
        ),
    ),
    workload=_WORKLOAD,
    sender=JMS,
    schedule=(
        _scheduled("responses to senders lost", LoseReceipts()),
        _scheduled("queue broker killed", Kill(QueueBroker()), "responses to senders lost"),
    ),
    claims=tuple(
        claim(_WORKLOAD.topic, hazards={"retried-send"}, expect=HOLDS)
        for claim in (
            at_most_once_append,
            at_least_once_append,
            exactly_once_append,
            idempotent_append,
        )
    ),
    seconds=30,
)
_SENDERS: Final = (
    _SENDING,
    replace(
        _SENDING,
        name="jms-sender-no-ids",
        title="The broken twin: a JMS application that resends without duplicate ids",
        subject=ProducerSubject(
            name="jms-sender-no-ids",
            says="A JMS application that resends after every error. Broken twin: its messages "
            "carry no duplicate id.",
        ),
        sender=JmsSender(duplicate_ids=False),
        schedule=(_scheduled("responses to senders lost", LoseReceipts()),),
        claims=claims_of_repeated_sends(_WORKLOAD.topic),
    ),
)

SCENARIOS: Final = (*_FORWARDERS, *_BY_AMQP, *_SENDERS)
