"""NATS JetStream: messages are delivered again, and streams drop known message ids.

JetStream calls message ids and a double ack exactly-once. It holds while the server remembers the
id: the broken twins have no ids, a window that is shorter than the time until a redelivery, or no
acknowledgements.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Final

from onceproof.harness.nats.configuration import JetStream
from onceproof.harness.subjects.group.hazards import ABANDONED, REPLAYED
from onceproof.harness.subjects.queue.hazards import DROPPED
from onceproof.harness.subjects.queue.moments import BEFORE_COMMIT, BEFORE_WRITE
from onceproof.harness.subjects.queue.subject import QueueForwarder
from onceproof.harness.workload.senders.nats_py import NATS_PY
from onceproof.scenarios._queues import (
    BOTH_KILLED,
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
from onceproof.scenarios.base import claims_of_repeated_sends

_IDS: Final = QueueForwarder(client="jetstream", acknowledge="client", duplicate_ids=True)
_PLAIN: Final = replace(_IDS, duplicate_ids=False)
_UNACKNOWLEDGED: Final = QueueForwarder(client="jetstream", acknowledge="auto")
_NARROW: Final = replace(_IDS, broker=JetStream(window=1.0))
_by_nats: Final = partial(scenario, sender=NATS_PY)

SCENARIOS: Final = (
    _by_nats(
        _IDS,
        DROPPED,
        title="JetStream with message ids: forwarder and server killed before an acknowledgement",
        schedule=BOTH_KILLED,
    ),
    _by_nats(
        _IDS,
        DROPPED,
        title="JetStream with message ids: a forwarder paused and resumed as a zombie",
        schedule=(PAUSED,),
        suffix="-paused",
    ),
    _by_nats(
        _IDS,
        DROPPED,
        title="JetStream with message ids: cut off, responses lost, server paused",
        schedule=NETWORK,
        suffix="-network",
    ),
    _by_nats(
        _PLAIN,
        REPLAYED,
        title="The broken twin: a double ack without message ids",
        schedule=(killed(BEFORE_COMMIT),),
        broken=TWICE,
    ),
    _by_nats(
        _NARROW,
        REPLAYED,
        title="The broken twin: a message is delivered again after the duplicate window",
        schedule=(PAUSED,),
        broken=TWICE,
    ),
    _by_nats(
        _UNACKNOWLEDGED,
        ABANDONED,
        title="The broken twin: messages delivered to a forwarder that dies are lost",
        schedule=(killed(BEFORE_WRITE),),
        broken=LOST,
    ),
    sending(
        "nats-sender",
        "A NATS application that publishes again after every error. Each message carries an id, by "
        "which the stream drops messages that it already has.",
        title="A NATS application that publishes again until acknowledged, with message ids",
        sender=NATS_PY,
    ),
    sending(
        "nats-sender-no-ids",
        "A NATS application that publishes again after every error. Broken twin: its messages "
        "carry no id.",
        title="The broken twin: a NATS application that publishes again without message ids",
        sender=replace(NATS_PY, message_ids=False),
        schedule=(RECEIPTS_LOST,),
        claims=claims_of_repeated_sends(WORKLOAD.topic),
    ),
)
