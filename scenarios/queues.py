"""Queues, by JMS and by AMQP: a broker redelivers messages, and drops known duplicates.

Forwarders that are killed or paused, or whose broker is killed, get unacknowledged messages again.
A transaction makes that harmless; so do duplicate ids, while the broker remembers them. The broken
twins acknowledge too early or too late, or use a broker that forgets.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Final

from onceproof.harness.artemis.configuration import Artemis
from onceproof.harness.schedule.scenario import Scenario
from onceproof.harness.subjects.group.hazards import ABANDONED, REPLAYED
from onceproof.harness.subjects.queue.hazards import DROPPED, REWRITTEN
from onceproof.harness.subjects.queue.moments import BEFORE_COMMIT, BEFORE_WRITE
from onceproof.harness.subjects.queue.subject import QueueForwarder
from onceproof.harness.workload.senders.jms import JMS, JmsSender
from onceproof.scenarios._queues import (
    AROUND_A_COMMIT,
    BOTH_KILLED,
    BROKER_KILLED,
    LOST,
    NETWORK,
    PAUSED,
    RECEIPTS_LOST,
    TWICE,
    WORKLOAD,
    killed,
    scenario,
    sending,
)
from onceproof.scenarios.base import UNEXERCISED, claims_of_repeated_sends
from onceproof.scenarios.groups import claims

_TRANSACTED: Final = QueueForwarder()
_AUTO: Final = QueueForwarder(acknowledge="auto")
_CLIENT: Final = QueueForwarder(acknowledge="client")
_IDS: Final = QueueForwarder(acknowledge="client", duplicate_ids=True)
_VOLATILE_CACHE: Final = replace(_IDS, broker=Artemis(persist_id_cache=False))
_SMALL_CACHE: Final = replace(_IDS, broker=Artemis(id_cache_size=10))


_QUIET: Final = Scenario(
    name=f"{_TRANSACTED.name}-quiet",
    title="Forwarders with transacted sessions, without faults: nothing is tested",
    subject=_TRANSACTED,
    workload=replace(WORKLOAD, records=1_000),
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
_by_jms: Final = partial(scenario, sender=JMS)
_UNDER_FAULTS: Final = _by_jms(
    _TRANSACTED,
    REWRITTEN,
    title="Forwarders with transacted sessions: forwarders and broker killed around a commit",
    schedule=AROUND_A_COMMIT,
)


_FORWARDERS: Final = (
    _QUIET,
    _UNDER_FAULTS,
    replace(
        _UNDER_FAULTS,
        name=f"{_TRANSACTED.name}-paused",
        title="A forwarder with a transacted session: paused and resumed as a zombie",
        schedule=(PAUSED,),
    ),
    replace(
        _UNDER_FAULTS,
        name=f"{_TRANSACTED.name}-network",
        title="Forwarders with transacted sessions: cut off, responses lost, broker paused",
        schedule=NETWORK,
    ),
    _by_jms(
        _AUTO,
        ABANDONED,
        title="AUTO_ACKNOWLEDGE: messages delivered to a forwarder that dies are lost",
        schedule=(killed(BEFORE_WRITE),),
        broken=LOST,
    ),
    _by_jms(
        _CLIENT,
        REPLAYED,
        title="CLIENT_ACKNOWLEDGE: messages written but not yet acknowledged are written again",
        schedule=(killed(BEFORE_COMMIT),),
        broken=TWICE,
    ),
    _by_jms(
        _IDS,
        DROPPED,
        title="CLIENT_ACKNOWLEDGE with duplicate ids: the broker drops messages written again",
        schedule=BOTH_KILLED,
    ),
    _by_jms(
        _VOLATILE_CACHE,
        REPLAYED,
        title="The broken twin: the broker forgets the duplicate ids when it restarts",
        schedule=(BROKER_KILLED,),
        broken=TWICE,
    ),
    _by_jms(
        _SMALL_CACHE,
        REPLAYED,
        title="The broken twin: the broker remembers only the last ten duplicate ids",
        schedule=(PAUSED,),
        broken=TWICE,
    ),
)


_AMQP: Final = QueueForwarder(client="amqp")
_AMQP_PLAIN: Final = QueueForwarder(client="amqp", acknowledge="client")
_AMQP_IDS: Final = replace(_AMQP_PLAIN, duplicate_ids=True)
_BY_AMQP: Final = (
    _by_jms(
        _AMQP,
        REWRITTEN,
        title="AMQP: effect and acceptance in one transaction, killed around its commit",
        schedule=AROUND_A_COMMIT,
    ),
    _by_jms(
        _AMQP,
        REWRITTEN,
        title="AMQP: a forwarder with transactions, paused and resumed as a zombie",
        schedule=(PAUSED,),
        suffix="-paused",
    ),
    _by_jms(
        _AMQP_IDS,
        DROPPED,
        title="AMQP with duplicate ids: the broker drops messages sent again",
        schedule=BOTH_KILLED,
    ),
    _by_jms(
        _AMQP_IDS,
        DROPPED,
        title="AMQP with duplicate ids: cut off, responses lost, broker paused",
        schedule=NETWORK,
        suffix="-network",
    ),
    _by_jms(
        _AMQP_PLAIN,
        REPLAYED,
        title="The broken twin: AMQP without duplicate ids, killed before a message is accepted",
        schedule=(killed(BEFORE_COMMIT),),
        broken=TWICE,
    ),
)


_SENDERS: Final = (
    sending(
        "jms-sender",
        "A JMS application that resends after every error. Each message carries a duplicate "
        "id, by which the broker drops messages that it already has.",
        title="A JMS application that resends unacknowledged messages, with duplicate ids",
        sender=JMS,
    ),
    sending(
        "jms-sender-no-ids",
        "A JMS application that resends after every error. Broken twin: its messages carry no "
        "duplicate id.",
        title="The broken twin: a JMS application that resends without duplicate ids",
        sender=JmsSender(duplicate_ids=False),
        schedule=(RECEIPTS_LOST,),
        claims=claims_of_repeated_sends(WORKLOAD.topic),
    ),
)

SCENARIOS: Final = (*_FORWARDERS, *_BY_AMQP, *_SENDERS)
