"""Valkey's streams: consumer groups keep entries pending until they are acknowledged.

An effect is added exactly once if one script acknowledges its entry and adds it only if that entry
was still pending. One MULTI with both is not enough for a zombie, and a mark that is set before the
effect loses it.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Final

from onceproof.checkers.claims import at_least_once_append
from onceproof.harness.faults.kill import Kill
from onceproof.harness.faults.targets.service import QueueBroker
from onceproof.harness.subjects.group.hazards import ABANDONED, REPLAYED
from onceproof.harness.subjects.queue.hazards import DROPPED, REDELIVERED
from onceproof.harness.subjects.queue.moments import BEFORE_COMMIT, BEFORE_WRITE
from onceproof.harness.subjects.queue.subject import QueueForwarder
from onceproof.harness.valkey.configuration import Streams
from onceproof.harness.workload.senders.valkey_py import VALKEY_PY
from onceproof.scenarios._queues import (
    AROUND_A_COMMIT,
    LOST,
    NETWORK,
    PAUSED,
    RECEIPTS_LOST,
    TWICE,
    WORKLOAD,
    killed,
    scenario,
    scheduled,
    sending,
)
from onceproof.scenarios.base import claims_of_repeated_sends, violated

_SCRIPTED: Final = QueueForwarder(client="valkey", acknowledge="scripted")
_MULTI: Final = replace(_SCRIPTED, acknowledge="transacted")
_PLAIN: Final = replace(_SCRIPTED, acknowledge="client")
_MARKED: Final = replace(_PLAIN, duplicate_ids=True)
_UNACKNOWLEDGED: Final = replace(_SCRIPTED, acknowledge="auto")
_by_valkey: Final = partial(scenario, sender=VALKEY_PY)

SCENARIOS: Final = (
    _by_valkey(
        _SCRIPTED,
        REDELIVERED,
        title="Valkey: a script checks and acknowledges; forwarders and server killed around it",
        schedule=AROUND_A_COMMIT,
    ),
    _by_valkey(
        _SCRIPTED,
        DROPPED,
        title="Valkey: a script checks and acknowledges; a forwarder resumed as a zombie",
        schedule=(PAUSED,),
        suffix="-paused",
    ),
    _by_valkey(
        _SCRIPTED,
        REDELIVERED,
        title="Valkey: a script checks and acknowledges; cut off, responses lost, server paused",
        schedule=NETWORK,
        suffix="-network",
    ),
    _by_valkey(
        _MULTI,
        REDELIVERED,
        title="Valkey: effect and acknowledgement in one MULTI; killed around it",
        schedule=AROUND_A_COMMIT,
    ),
    _by_valkey(
        _MULTI,
        REPLAYED,
        title="The broken twin: MULTI does not notice that a zombie's entry was consumed",
        schedule=(PAUSED,),
        broken=TWICE,
        suffix="-paused",
    ),
    _by_valkey(
        _PLAIN,
        REPLAYED,
        title="The broken twin: an entry is acknowledged after its effect is added",
        schedule=(killed(BEFORE_COMMIT),),
        broken=TWICE,
    ),
    _by_valkey(
        _MARKED,
        ABANDONED,
        title="The broken twin: a record is marked with SET NX before its effect is added",
        schedule=(killed(BEFORE_WRITE),),
        broken=LOST,
    ),
    _by_valkey(
        _UNACKNOWLEDGED,
        ABANDONED,
        title="The broken twin: with NOACK, entries delivered to a forwarder that dies are lost",
        schedule=(killed(BEFORE_WRITE),),
        broken=LOST,
    ),
    sending(
        "valkey-sender",
        "A Valkey application that adds an entry again after every error, by a script that adds it "
        "only if none with its id was added before.",
        title="A Valkey application that adds entries again until answered, by a script",
        sender=VALKEY_PY,
    ),
    sending(
        "valkey-sender-no-ids",
        "A Valkey application that adds an entry again after every error. Broken twin: it uses "
        "plain XADD.",
        title="The broken twin: a Valkey application that adds entries again with XADD",
        sender=replace(VALKEY_PY, message_ids=False),
        schedule=(RECEIPTS_LOST,),
        claims=claims_of_repeated_sends(WORKLOAD.topic),
    ),
    sending(
        "valkey-sender-forgetful",
        "A Valkey application that adds an entry again after every error. Broken twin: the server "
        "keeps no append-only file, as by default.",
        title="The broken twin: a server without an append-only file is killed",
        sender=replace(VALKEY_PY, queue_broker=Streams(append_only=False)),
        schedule=(scheduled("queue broker killed", Kill(QueueBroker())),),
        claims=(at_least_once_append(WORKLOAD.topic, expect=violated("lost-write")),),
    ),
)
