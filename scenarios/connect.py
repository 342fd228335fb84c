"""Kafka Connect: exactly-once source connectors under their worst faults, and a file sink.

Two workers share a connector with one task. The worker that runs it is killed or paused, all
workers are killed or cut off, or a commit's response or coordinator is lost.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from onceproof.checkers.model import Claim, Expectation
from onceproof.harness.faults.base import Fault
from onceproof.harness.faults.kill import Kill
from onceproof.harness.faults.links.cut_link import CutLink
from onceproof.harness.faults.messages.hit_message import HitMessage
from onceproof.harness.faults.pause import Pause
from onceproof.harness.faults.targets.brokers import CoordinatorOf, LeaderOf
from onceproof.harness.faults.targets.connect import ConnectTaskOwner, ConnectWorkers
from onceproof.harness.faults.until import Acknowledged
from onceproof.harness.schedule.scenario import Scenario, ScheduledFault
from onceproof.harness.subjects.connect.sink import FileSink
from onceproof.harness.subjects.connect.source import FileSource, MirrorSource, SourceConnector
from onceproof.harness.subjects.connect.worker import GROUP
from onceproof.harness.subjects.group.hazards import ABORTED, REPLAYED
from onceproof.harness.workload.payments import Payments
from onceproof.harness.workload.senders.file import FILE
from onceproof.harness.workload.senders.librdkafka import LIBRDKAFKA
from onceproof.scenarios.base import DUPLICATES, HOLDS, UNEXERCISED, claims
from onceproof.scenarios.groups import WORKLOAD, passing

_FILE: Final = Payments(records=6_000, producers=1, partitions=1, topic="payments.jsonl", rate=500)


def _claims(
    subject: SourceConnector | FileSink,
    topic: str,
    *,
    once: Expectation,
    least: Expectation = HOLDS,
    hazards: frozenset[str] = frozenset({ABORTED}),
) -> tuple[Claim, ...]:
    """Return all three claims; at-most-once and exactly-once share an expectation."""
    sink, view = subject.sink, subject.view
    return claims(topic, sink, view, most=once, least=least, exactly=once, hazards=hazards)


def _during_transaction(
    subject: SourceConnector, name: str, do: Fault, *after: str
) -> ScheduledFault:
    """Act when records and offsets are in the transaction and its EndTxn is sent, which is lost."""
    return ScheduledFault(
        name=name,
        progress=0.0 if after else 0.1,
        after=after,
        during=passing("request", "EndTxn", who=subject.producer),
        lost=True,
        do=do,
    )


def _after_records(subject: SourceConnector) -> ScheduledFault:
    """Kill the task's owner when its records are appended and their offsets not yet committed."""
    return ScheduledFault(
        name="owner killed before it commits",
        progress=0.1,
        during=passing("response", "Produce", who=subject.producer, topic=subject.sink),
        do=Kill(ConnectTaskOwner()),
    )


_FROM_FILE: Final = FileSource()
_FROM_FILE_TWIN: Final = FileSource(exactly=False)

_FILE_QUIET: Final = Scenario(
    name=f"{_FROM_FILE.name}-quiet",
    title="Kafka Connect's file source, exactly-once, without faults: nothing is tested",
    subject=_FROM_FILE,
    workload=_FILE,
    sender=FILE,
    schedule=(),
    claims=_claims(_FROM_FILE, _FILE.topic, once=UNEXERCISED, least=UNEXERCISED),
    seconds=25,
)

_MIRROR: Final = MirrorSource()
_MIRROR_TWIN: Final = MirrorSource(exactly=False)
_UNANSWERED: Final = ScheduledFault(
    name="commit response lost",
    progress=0.1,
    do=HitMessage(
        message=passing("response", "EndTxn", who=_MIRROR.producer), action="close-before"
    ),
)
_COORDINATOR: Final = ScheduledFault(
    name="transaction coordinator killed",
    after=(_UNANSWERED.name,),
    during=passing("request", "EndTxn", who=_MIRROR.producer),
    do=Kill(CoordinatorOf(of="transaction", name=f"{GROUP}-{_MIRROR.name}-0")),
)
_CUT: Final = ScheduledFault(
    name="workers cut off from a broker",
    progress=0.1,
    do=CutLink(source="pipeline", target=LeaderOf(partition=0)),
    until=Acknowledged(records=1_500),
)
_MIRROR_QUIET: Final = replace(
    _FILE_QUIET,
    name=f"{_MIRROR.name}-quiet",
    title="MirrorMaker's source, exactly-once, without faults: nothing is tested",
    subject=_MIRROR,
    workload=WORKLOAD,
    sender=LIBRDKAFKA,
    claims=_claims(_MIRROR, WORKLOAD.topic, once=UNEXERCISED, least=UNEXERCISED),
)

_SINK: Final = FileSink()
_SINK_QUIET: Final = replace(
    _MIRROR_QUIET,
    name=f"{_SINK.name}-quiet",
    title="Kafka Connect's file sink without faults: nothing goes wrong, and nothing is tested",
    subject=_SINK,
    claims=_claims(
        _SINK,
        WORKLOAD.topic,
        once=UNEXERCISED,
        least=UNEXERCISED,
        hazards=frozenset({REPLAYED}),
    ),
)

SCENARIOS = (
    _FILE_QUIET,
    replace(
        _FILE_QUIET,
        name=_FROM_FILE.name,
        title="Kafka Connect's file source, exactly-once: worker killed during a transaction",
        schedule=(_during_transaction(_FROM_FILE, "owner killed", Kill(ConnectTaskOwner())),),
        claims=_claims(_FROM_FILE, _FILE.topic, once=HOLDS),
        seconds=35,
    ),
    replace(
        _FILE_QUIET,
        name=f"{_FROM_FILE.name}-all-killed",
        title="Kafka Connect's file source, exactly-once: all workers killed during a transaction",
        schedule=(_during_transaction(_FROM_FILE, "all workers killed", Kill(ConnectWorkers())),),
        claims=_claims(_FROM_FILE, _FILE.topic, once=HOLDS),
        seconds=40,
    ),
    replace(
        _FILE_QUIET,
        name=f"{_FROM_FILE.name}-paused",
        title="Kafka Connect's file source, exactly-once: worker paused and resumed as a zombie",
        schedule=(_during_transaction(_FROM_FILE, "zombie", Pause(ConnectTaskOwner())),),
        claims=_claims(_FROM_FILE, _FILE.topic, once=HOLDS),
        seconds=35,
    ),
    replace(
        _FILE_QUIET,
        name=_FROM_FILE_TWIN.name,
        title="The broken twin: Kafka Connect's file source with default settings, worker killed",
        subject=_FROM_FILE_TWIN,
        schedule=(_after_records(_FROM_FILE_TWIN),),
        claims=_claims(
            _FROM_FILE_TWIN,
            _FILE.topic,
            once=DUPLICATES,
            hazards=frozenset({REPLAYED}),
        ),
        seconds=40,
    ),
    _MIRROR_QUIET,
    replace(
        _MIRROR_QUIET,
        name=_MIRROR.name,
        title="MirrorMaker's source, exactly-once: commit response lost, coordinator and worker "
        "killed",
        schedule=(
            _UNANSWERED,
            _COORDINATOR,
            _during_transaction(
                _MIRROR, "owner killed", Kill(ConnectTaskOwner()), _COORDINATOR.name
            ),
        ),
        claims=_claims(_MIRROR, WORKLOAD.topic, once=HOLDS),
        seconds=45,
    ),
    replace(
        _MIRROR_QUIET,
        name=f"{_MIRROR.name}-paused",
        title="MirrorMaker's source, exactly-once: cut off from a broker, then a zombie worker",
        schedule=(
            _CUT,
            _during_transaction(_MIRROR, "zombie", Pause(ConnectTaskOwner()), _CUT.name),
        ),
        claims=_claims(_MIRROR, WORKLOAD.topic, once=HOLDS),
        seconds=35,
    ),
    replace(
        _MIRROR_QUIET,
        name=_MIRROR_TWIN.name,
        title="The broken twin: MirrorMaker's source with default settings, worker killed",
        subject=_MIRROR_TWIN,
        schedule=(_after_records(_MIRROR_TWIN),),
        claims=_claims(
            _MIRROR_TWIN,
            WORKLOAD.topic,
            once=DUPLICATES,
            hazards=frozenset({REPLAYED}),
        ),
        seconds=40,
    ),
    _SINK_QUIET,
    replace(
        _SINK_QUIET,
        name=_SINK.name,
        title="Kafka Connect's file sink: worker killed with uncommitted lines",
        schedule=(
            ScheduledFault(
                name="owner killed before it commits",
                progress=0.1,
                during=passing("request", "OffsetCommit", who=_SINK.consumer),
                lost=True,
                do=Kill(ConnectTaskOwner()),
            ),
        ),
        claims=_claims(
            _SINK,
            WORKLOAD.topic,
            once=DUPLICATES,
            hazards=frozenset({REPLAYED}),
        ),
        seconds=35,
    ),
)
