"""The hazards of the user's pipelines: which profile has which, how each is caused and proved.

This table is the only place that knows them; the plan of a trial and the reference page follow from
it. `strikes` makes the faults of one round: a hazard is met once a round, each time differently.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from harness.faults.add_partition import AddPartition
from harness.faults.base import Fault, Until
from harness.faults.cut_link import CutLink
from harness.faults.cut_program import CutProgram
from harness.faults.evict_program import EvictProgram
from harness.faults.fence_program import FenceProgram
from harness.faults.hit_message import HitMessage
from harness.faults.kill_broker import KillBroker
from harness.faults.kill_database import KillDatabase
from harness.faults.kill_driver import KillDriver
from harness.faults.kill_program import HAZARDS, KILLED_AT_WORK, KillProgram
from harness.faults.kill_queue_broker import KillQueueBroker
from harness.faults.message import Message
from harness.faults.odd_input import OddInput
from harness.faults.other_member import common
from harness.faults.pause_driver import PauseDriver
from harness.faults.pause_program import PauseProgram
from harness.faults.rebalance_program import RebalanceProgram
from harness.faults.restart_idle import RestartIdle
from harness.faults.stop_driver import StopDriver
from harness.faults.stop_program import StopProgram
from harness.faults.strike_database import StrikeDatabase
from harness.faults.targets import CoordinatorOf, LeaderOf, Node
from harness.faults.until import Acknowledged, Bitten, Lasted
from harness.faults.withhold_writes import WithholdWrites
from harness.own.profile import (
    ABORTED,
    GROUP,
    KEYS,
    NULL,
    ODD,
    OVERSIZE,
    TRANSACTION,
    GroupProfile,
    Profile,
)
from harness.stage.topology import ARTEMIS

PHASES: Final = (0.8, 0.4, 0.0, 0.6, 0.2)
"""How far into the pause between two writes a strike comes, by round."""
_SHORT_SESSION_MS: Final = 10_000
"""A session time-out that a trial waits for; beyond it a member is removed by hand."""
_OFFSET_ERRORS: Final = ("UNKNOWN_MEMBER_ID", "ILLEGAL_GENERATION", "REBALANCE_IN_PROGRESS")
DELIVERY_SECONDS: Final = 12.0
"""For how long no record of the pipeline is taken: longer than delivery time-outs that are short
for Kafka, far shorter than its clients' own, which are two to five minutes."""
_UNAVAILABLE: Final = "NOT_ENOUGH_REPLICAS"
_ALWAYS: Final = 1_000_000
_REFUSED_FOR_GOOD: Final = "TOPIC_AUTHORIZATION_FAILED"


@dataclass(frozen=True, kw_only=True)
class Pipeline:
    """What a hazard may depend on.

    Attributes:
        profile: what was learned of it.
        input: the topic that it reads.
        kinds: of its outputs, as `Output.kind` has them.
        topics: of its outputs.
        spark: whether its Spark checkpoint is watched.
        upserts: whether its outputs keep one value for each key.
        plain_data: whether its input gets no odd records.
        odd_orders: kinds of odd records that are among its made-up orders.
    """

    profile: Profile
    input: str
    kinds: Collection[str] = ("topic",)
    topics: tuple[str, ...] = ()
    spark: bool = False
    upserts: bool = False
    plain_data: bool = False
    odd_orders: Collection[str] = ()

    @property
    def group(self) -> GroupProfile | None:
        """The group that it is a member of, if it is one that can be joined."""
        group = self.profile.group
        return group if group is not None and group.members else None

    @property
    def produced(self) -> tuple[str, ...]:
        """The topics that it writes effects or dead letters to."""
        return self.topics or self.profile.topics

    @property
    def patience(self) -> float:
        """Seconds in which it should have committed offsets, if it does by the clock."""
        every = self.profile.commit_seconds
        return 1.0 if every is None else min(15.0, 1.5 * every + 1.0)


@dataclass(frozen=True, kw_only=True)
class Strike:
    """One fault of a plan.

    Attributes:
        do: the fault.
        until: what ends it.
        tells: whether the fault records the hazard itself, when its own proof is there.
    """

    do: Fault
    until: Until = field(default_factory=Bitten)
    tells: bool = False


@dataclass(frozen=True, kw_only=True)
class Hazard:
    """One kind of hazard.

    Attributes:
        name: as histories and `--accept-untested` have it.
        says: what happens to the pipeline, in words.
        of: which profile has it, in words.
        proof: what shows that it was met, in words.
        unless: why a pipeline does not have it; None if it has.
        strikes: how it is caused, in one round.
        rare: whether once in three rounds is enough, because it takes long.
        brutal: whether only the preset `brutal` has it: a pipeline may be right although it fails
            there.
    """

    name: str
    says: str
    of: str
    proof: str
    unless: Callable[[Pipeline], str | None]
    strikes: Callable[[Pipeline, int], Sequence[Strike]]
    rare: bool = False
    brutal: bool = False


def _phase(n: int) -> float:
    return PHASES[n % len(PHASES)]


def _needs(what: Callable[[Pipeline], object], why: str) -> Callable[[Pipeline], str | None]:
    def unless(pipeline: Pipeline) -> str | None:
        if what(pipeline):
            return None
        return why if pipeline.profile.watched or pipeline.spark else f"{why} that was seen here"

    return unless


def _program(pipeline: Pipeline) -> bool:
    return not pipeline.spark


def _commits_to_kafka(pipeline: Pipeline) -> bool:
    where = pipeline.profile.commits
    return _program(pipeline) and (GROUP in where or TRANSACTION in where)


def _transactional(pipeline: Pipeline) -> bool:
    return _program(pipeline) and bool(pipeline.profile.transactional_ids)


def _produces(pipeline: Pipeline) -> bool:
    return pipeline.profile.watched and bool(pipeline.profile.topics)


def _asks_for_answers(pipeline: Pipeline) -> bool:
    return _program(pipeline) and _produces(pipeline) and pipeline.profile.acks != 0


def _tables(pipeline: Pipeline) -> bool:
    return bool(pipeline.profile.tables)


def _hit(pipeline: Pipeline, api: str, action: str, **more: object) -> Strike:
    error = more.pop("error", None)
    message = Message(
        source="pipeline",
        api=api,
        **more,  # type: ignore[arg-type]
    )
    return Strike(do=HitMessage(message=message, action=action, error=error))  # type: ignore[arg-type]


def _commit_refused(pipeline: Pipeline, n: int) -> Iterator[Strike]:
    yield _hit(
        pipeline, "OffsetCommit", "error", direction="request", topic=pipeline.input,
        error=_OFFSET_ERRORS[n % len(_OFFSET_ERRORS)],
    )  # fmt: skip


def _commit_unheard_alive(pipeline: Pipeline, n: int) -> Iterator[Strike]:
    if TRANSACTION in pipeline.profile.commits:
        yield _hit(pipeline, "EndTxn", "close-before", direction="response", commits=True)
    else:
        yield _hit(
            pipeline, "OffsetCommit", "close-before", direction="response", topic=pipeline.input
        )


def _aborted(pipeline: Pipeline, n: int) -> Iterator[Strike]:
    if n % 2 == 0 and TRANSACTION in pipeline.profile.commits:
        error = _OFFSET_ERRORS[n % 2]
        yield _hit(pipeline, "TxnOffsetCommit", "error", direction="request", error=error)
    else:
        yield _refused(pipeline, n)


def _refused(pipeline: Pipeline, n: int) -> Strike:
    topics = pipeline.produced
    return _hit(
        pipeline, "Produce", "error", direction="request", topic=topics[n % len(topics)],
        error=_REFUSED_FOR_GOOD,
    )  # fmt: skip


def _unavailable(pipeline: Pipeline, n: int) -> Iterator[Strike]:
    topics = pipeline.produced
    message = Message(
        source="pipeline", direction="request", api="Produce", topic=topics[n % len(topics)]
    )
    refused = HitMessage(message=message, action="error", times=_ALWAYS, error=_UNAVAILABLE)
    yield Strike(do=refused, until=Lasted(seconds=DELIVERY_SECONDS))


def _unknown(pipeline: Pipeline, n: int) -> Iterator[Strike]:
    topics = pipeline.produced
    yield _hit(
        pipeline, "Produce", "close-before", direction="response", topic=topics[n % len(topics)]
    )


def _withheld(pipeline: Pipeline, n: int) -> Iterator[Strike]:
    for topic in pipeline.produced if _produces(pipeline) else ():
        fault = WithholdWrites(topic=topic, seconds=pipeline.patience, phase=_phase(n))
        yield Strike(do=fault)
    if _tables(pipeline) and pipeline.profile.watched:
        fault_ = StrikeDatabase(when="commit", act="kill-undone", seconds=pipeline.patience)
        yield Strike(do=fault_)


def _stopped(pipeline: Pipeline, n: int) -> Iterator[Strike]:
    if pipeline.spark:
        yield Strike(do=StopDriver())
    elif _produces(pipeline) and n % 2:
        topics = pipeline.produced
        yield Strike(do=WithholdWrites(topic=topics[n % len(topics)], ending="stop", seconds=0.5))
    else:
        yield Strike(do=StopProgram(phase=_phase(n)))


def _between(pipeline: Pipeline, n: int) -> Iterator[Strike]:
    for table in pipeline.profile.tables:
        yield Strike(do=StrikeDatabase(when="statement", act="kill-undone", table=table))


def _database(act: str, when: str = "commit") -> Callable[[Pipeline, int], Sequence[Strike]]:
    strike = Strike(do=StrikeDatabase(when=when, act=act))  # type: ignore[arg-type]
    return lambda pipeline, n: [strike]


def _database_refused(pipeline: Pipeline, n: int) -> Iterator[Strike]:
    when, code = (("statement", "40001"), ("commit", "40001"), ("statement", "40P01"))[n % 3]
    yield Strike(do=StrikeDatabase(when=when, act="refuse", code=code))  # type: ignore[arg-type]


def _database_cut(pipeline: Pipeline, n: int) -> Iterator[Strike]:
    act = ("cut-undone", "cut-landed")[n % 2]
    yield Strike(do=StrikeDatabase(when="commit", act=act))  # type: ignore[arg-type]


def _evicted(pipeline: Pipeline, n: int) -> Iterator[Strike]:
    group = pipeline.group
    assert group is not None, "asked for before"
    several = group.members > 1 and pipeline.profile.processes > 1
    short = group.session_ms is not None and group.session_ms <= _SHORT_SESSION_MS
    yield Strike(
        do=EvictProgram(
            group=group.name,
            assignors=group.assignors,
            protocol=group.protocol,
            one_of_several=several,
            at_once=not (several or group.static or (short and n % 3 == 0)),
            phase=_phase(n),
        )
    )


def _rebalanced(pipeline: Pipeline, n: int) -> Iterator[Strike]:
    group = pipeline.group
    assert group is not None, "asked for before"
    yield Strike(
        do=RebalanceProgram(
            group=group.name, assignors=group.assignors, protocol=group.protocol, phase=_phase(n)
        )
    )


def _no_group(pipeline: Pipeline) -> str | None:
    group = pipeline.group
    if group is None:
        return "it is a member of no group that the cluster knows"
    if group.protocol == "classic" and not common(group.assignors):
        how = ", ".join(group.assignors) or "a protocol of its own"
        return f"its group assigns partitions by {how}, which our own member does not know"
    return None


def _evictable(pipeline: Pipeline) -> str | None:
    group = pipeline.group
    several = group is not None and group.members > 1
    if several and pipeline.profile.processes > 1:
        return None
    return _no_group(pipeline)


def _odd_unless(kind: str) -> Callable[[Pipeline], str | None]:
    def unless(pipeline: Pipeline) -> str | None:
        profile = pipeline.profile
        if kind in pipeline.odd_orders:
            return None
        if pipeline.plain_data:
            return "--plain-data leaves it out"
        if kind == ABORTED and profile.read_committed is False and not profile.transactional_ids:
            return "it reads with read_uncommitted, so that what is aborted has effects"
        if kind in profile.survives and kind != OVERSIZE:
            return None
        if kind == KEYS or kind in profile.survives:
            return "only orders that are made up have it, and not for upserts or Spark jobs"
        if profile.ends_at is None:
            return "it was not seen to go on behind them, or its effects of them name no input"
        return f"it ended at {ODD[profile.ends_at]} in its rehearsal"

    return unless


def _odd(kind: str) -> Callable[[Pipeline, int], Sequence[Strike]]:
    return lambda pipeline, n: [
        Strike(do=OddInput(records=kind, orders=kind in pipeline.odd_orders, phase=_phase(n)))
    ]


def _partition_added(pipeline: Pipeline) -> str | None:
    if not _program(pipeline):
        return "a Spark job finds new partitions by itself"
    if pipeline.upserts:
        return "the values of a key would come from two partitions, in no order"
    return None


def _broker(pipeline: Pipeline, n: int) -> Iterator[Strike]:
    topic = pipeline.produced[0] if n % 2 and pipeline.produced else None
    yield Strike(do=KillBroker(target=LeaderOf(partition=n % 3, topic=topic)))


def _coordinator(pipeline: Pipeline, n: int) -> Iterator[Strike]:
    group = pipeline.group
    assert group is not None, "asked for before"
    yield Strike(do=KillBroker(target=CoordinatorOf(of="group", name=group.name)))


def _cut_off(pipeline: Pipeline, n: int) -> Iterator[Strike]:
    if pipeline.spark:
        fault = CutLink(source="pipeline", target=LeaderOf(partition=1))
        yield Strike(do=fault, until=Acknowledged(records=400))
    else:
        yield Strike(do=CutProgram(seconds=(2.0, 5.0, 8.0)[n % 3]))


def _paused(pipeline: Pipeline, n: int) -> Iterator[Strike]:
    fault: Fault = PauseDriver() if pipeline.spark else PauseProgram()
    yield Strike(do=fault, until=Acknowledged(records=400))


def _queue_broker(pipeline: Pipeline, n: int) -> Iterator[Strike]:
    if n % 2 == 0:
        yield Strike(do=KillQueueBroker())
    else:
        link = CutLink(source="pipeline", target=Node(name=ARTEMIS))
        yield Strike(do=link, until=Acknowledged(records=400))


_BEFORE, _AFTER = HAZARDS["before-commit"], HAZARDS["after-commit"]
_KAFKA: Final = "commits offsets to Kafka"
_DATABASE: Final = "writes to a database of the stage"
_BEHIND: Final = "what came behind them in every partition had effects"
_NO_ANSWERS: Final = "it produces to no topic, or asks for no answers (acks=0)"
_GATE: Final = "a gate on its links saw the message, and what became of it"
_SERVER: Final = "the server said what became of the transaction"

TABLE: Final[tuple[Hazard, ...]] = (
    Hazard(
        name=_BEFORE,
        says="it is killed before a commit of new offsets arrives",
        of=_KAFKA,
        proof="a gate lost a commit of offsets that its group had not committed yet",
        unless=_needs(_commits_to_kafka, "it commits no offsets to Kafka"),
        strikes=lambda p, n: [Strike(do=KillProgram(moment="before-commit"), tells=True)],
    ),
    Hazard(
        name=_AFTER,
        says="it is killed before it hears that its commit was taken",
        of=_KAFKA,
        proof="a gate lost the answer to a commit of new offsets that was not refused",
        unless=_needs(_commits_to_kafka, "it commits no offsets to Kafka"),
        strikes=lambda p, n: [Strike(do=KillProgram(moment="after-commit"), tells=True)],
    ),
    Hazard(
        name="commit-refused",
        says="a commit of offsets is refused, and it lives on",
        of="commits offsets by OffsetCommit",
        proof=_GATE,
        unless=_needs(
            lambda p: _program(p) and GROUP in p.profile.commits, "it sends no OffsetCommit"
        ),
        strikes=lambda p, n: list(_commit_refused(p, n)),
    ),
    Hazard(
        name="commit-unknown",
        says="its connection ends in place of the answer to a commit, and it lives on",
        of=_KAFKA,
        proof=_GATE,
        unless=_needs(_commits_to_kafka, "it commits no offsets to Kafka"),
        strikes=lambda p, n: list(_commit_unheard_alive(p, n)),
    ),
    Hazard(
        name="transaction-aborted",
        says="its transaction must be aborted, and it lives on",
        of="is transactional",
        proof=_GATE,
        unless=_needs(lambda p: _transactional(p) and p.produced, "it has no transactions"),
        strikes=lambda p, n: list(_aborted(p, n)),
    ),
    Hazard(
        name="producer-fenced",
        says="its transactional producer is fenced just before a commit",
        of="is transactional",
        proof="the coordinator refused its commit after its transactional id was taken over",
        unless=_needs(_transactional, "it has no transactions"),
        strikes=lambda p, n: [Strike(do=FenceProgram())],
    ),
    Hazard(
        name="evicted",
        says="it loses its partitions while it has records in hand, and goes on",
        of="is a member of a group",
        proof="another member had its partitions while it, or one of its processes, stood still",
        unless=lambda p: _evictable(p) if _program(p) else "a Spark job assigns by itself",
        strikes=lambda p, n: list(_evicted(p, n)),
    ),
    Hazard(
        name="rebalanced",
        says="another member joins its group and leaves it, without any failure",
        of="is a member of a group",
        proof="partitions were assigned to the other member",
        unless=lambda p: _no_group(p) if _program(p) else "a Spark job assigns by itself",
        strikes=lambda p, n: list(_rebalanced(p, n)),
    ),
    Hazard(
        name="produce-unavailable",
        says=f"no replica takes what it produces for {DELIVERY_SECONDS:g} s, which is longer than "
        "short delivery time-outs",
        of="produces",
        proof=_GATE,
        unless=_needs(_asks_for_answers, _NO_ANSWERS),
        strikes=lambda p, n: list(_unavailable(p, n)),
        rare=True,
    ),
    Hazard(
        name="produce-refused",
        says="a produce request is refused for good, as for want of authorization",
        of="produces outside transactions",
        proof=_GATE,
        unless=_needs(
            lambda p: _asks_for_answers(p) and not _transactional(p),
            "it produces nothing outside transactions, which have hazards of their own, or asks "
            "for no answers",
        ),
        strikes=lambda p, n: [_refused(p, n)],
        brutal=True,
    ),
    Hazard(
        name="produce-unknown",
        says="its connection ends in place of the answer to a produce request",
        of="produces",
        proof=_GATE,
        unless=_needs(_asks_for_answers, _NO_ANSWERS),
        strikes=lambda p, n: list(_unknown(p, n)),
    ),
    Hazard(
        name="killed-with-writes",
        says="it is killed while its writes are under way, after it has had time to commit offsets",
        of="produces, or writes to a database of the stage",
        proof="its writes were withheld when it was killed",
        unless=_needs(
            lambda p: _program(p) and p.profile.watched and (_produces(p) or _tables(p)),
            "its writes go by no link that can be held up",
        ),
        strikes=lambda p, n: list(_withheld(p, n)),
    ),
    Hazard(
        name="killed-between-writes",
        says="it is killed just before a write to each of its tables",
        of="writes to several tables, or to tables and topics",
        proof=_SERVER,
        unless=_needs(
            lambda p: len(p.profile.tables) + bool(p.profile.tables) * len(p.produced) > 1,
            "it writes to one place only",
        ),
        strikes=lambda p, n: list(_between(p, n)),
    ),
    Hazard(
        name="stopped-with-work",
        says="it is asked to end (SIGTERM) while it has records in hand",
        of="any",
        proof="it ended after SIGTERM, while inputs waited for their effects",
        unless=lambda p: None,
        strikes=lambda p, n: list(_stopped(p, n)),
    ),
    Hazard(
        name=KILLED_AT_WORK,
        says="it is killed while inputs wait for their effects",
        of="any but Spark",
        proof="some inputs had effects and some had none when it was killed",
        unless=_needs(_program, "a Spark job is killed in windows of its micro-batches"),
        strikes=lambda p, n: [Strike(do=KillProgram(phase=_phase(n)), tells=True)],
    ),
    Hazard(
        name="database-commit-lost",
        says="it is killed at its commit in the database, which is undone",
        of=_DATABASE,
        proof=_SERVER,
        unless=_needs(_tables, "it writes to no database of the stage"),
        strikes=_database("kill-undone"),
    ),
    Hazard(
        name="database-commit-unheard",
        says="it is killed at its commit in the database, which is carried out",
        of=_DATABASE,
        proof=_SERVER,
        unless=_needs(_tables, "it writes to no database of the stage"),
        strikes=_database("kill-landed"),
    ),
    Hazard(
        name="database-connection-lost",
        says="its connection ends at a commit in the database, which is carried out or undone",
        of=_DATABASE,
        proof=_SERVER,
        unless=_needs(_tables, "it writes to no database of the stage"),
        strikes=lambda p, n: list(_database_cut(p, n)),
    ),
    Hazard(
        name="database-refused",
        says="the database refuses a statement or a commit: serialization failure, deadlock",
        of=_DATABASE,
        proof="the refusals were counted in the server",
        unless=_needs(_tables, "it writes to no database of the stage"),
        strikes=lambda p, n: list(_database_refused(p, n)),
    ),
    Hazard(
        name="database-slow",
        says="a commit in the database takes longer than statement time-outs usually are",
        of=_DATABASE,
        proof=_SERVER,
        unless=_needs(_tables, "it writes to no database of the stage"),
        strikes=_database("slow"),
        rare=True,
    ),
    Hazard(
        name="database-killed",
        says="the database is killed and recovers",
        of=_DATABASE,
        proof="it answered nobody",
        unless=_needs(_tables, "it writes to no database of the stage"),
        strikes=lambda p, n: [Strike(do=KillDatabase())],
        rare=True,
    ),
    Hazard(
        name="killed-after-offset-log",
        says="the driver is killed when a micro-batch is planned and not yet begun",
        of="is a Spark job",
        proof="the checkpoint had the offsets of the batch and no commit",
        unless=_needs(lambda p: p.spark, "it is no Spark job with a watched checkpoint"),
        strikes=lambda p, n: [Strike(do=KillDriver(window="after-offset-log"))],
    ),
    Hazard(
        name="replayed-batch",
        says="the driver is killed when the sink has a micro-batch that has no commit",
        of="is a Spark job",
        proof="the batch ran again after its effects were visible",
        unless=_needs(lambda p: p.spark, "it is no Spark job with a watched checkpoint"),
        strikes=lambda p, n: [Strike(do=KillDriver(window="after-sink-write"), tells=True)],
    ),
    Hazard(
        name="killed-after-batch-commit",
        says="the driver is killed when a micro-batch has been committed",
        of="is a Spark job",
        proof="the checkpoint had the commit of the batch",
        unless=_needs(lambda p: p.spark, "it is no Spark job with a watched checkpoint"),
        strikes=lambda p, n: [Strike(do=KillDriver(window="after-commit"))],
    ),
    Hazard(
        name="paused",
        says="it is paused with all its processes, and goes on",
        of="is a Spark job, or a member of no group",
        proof="it stood still while records were acknowledged",
        unless=lambda p: None if p.spark or _evictable(p) else "it is evicted instead",
        strikes=lambda p, n: list(_paused(p, n)),
        rare=True,
    ),
    Hazard(
        name="leader-killed",
        says="the broker that leads a partition of its input or output is killed",
        of="any",
        proof="others led what it had led",
        unless=lambda p: None,
        strikes=lambda p, n: list(_broker(p, n)),
        rare=True,
    ),
    Hazard(
        name="coordinator-killed",
        says="the coordinator of its group is killed",
        of="is a member of a group",
        proof="others led what it had led",
        unless=_needs(lambda p: _program(p) and p.group, "it is a member of no group"),
        strikes=lambda p, n: list(_coordinator(p, n)),
        rare=True,
    ),
    Hazard(
        name="cut-off",
        says="it is cut off from brokers for some seconds",
        of="any",
        proof="its connections were closed and records were acknowledged meanwhile",
        unless=lambda p: None,
        strikes=lambda p, n: list(_cut_off(p, n)),
        rare=True,
    ),
    Hazard(
        name="queue-broker-lost",
        says="the queue broker is killed, or cut off",
        of="writes to a queue",
        proof="it answered nobody, or connections to it were closed",
        unless=_needs(lambda p: "queue" in p.kinds, "it writes to no queue"),
        strikes=lambda p, n: list(_queue_broker(p, n)),
        rare=True,
    ),
    Hazard(
        name=ABORTED,
        says="its input holds records of an aborted transaction",
        of="reads with read_committed or is transactional, and went on behind them when rehearsed",
        proof=_BEHIND,
        unless=_odd_unless(ABORTED),
        strikes=_odd(ABORTED),
    ),
    Hazard(
        name=NULL,
        says="its input holds records with a null value",
        of="went on behind them when rehearsed",
        proof=_BEHIND,
        unless=_odd_unless(NULL),
        strikes=_odd(NULL),
    ),
    Hazard(
        name=OVERSIZE,
        says="its input holds records larger than brokers take by default (1.1 MB)",
        of="went on behind one when rehearsed",
        proof=_BEHIND,
        unless=_odd_unless(OVERSIZE),
        strikes=_odd(OVERSIZE),
        rare=True,
    ),
    Hazard(
        name=KEYS,
        says="its input holds records with an empty key, and with several headers of one name",
        of="any but Spark and upserts",
        proof=_BEHIND,
        unless=_odd_unless(KEYS),
        strikes=_odd(KEYS),
        rare=True,
    ),
    Hazard(
        name="partition-added",
        says="a partition is added to its input, and inputs go there",
        of="any but Spark and upserts",
        proof="inputs stood in the new partition; it had effects of them, or was started again",
        unless=_partition_added,
        strikes=lambda p, n: [Strike(do=AddPartition())],
        rare=True,
    ),
    Hazard(
        name="restarted-idle",
        says="it is killed when it has read everything, and starts with nothing new to read",
        of="reads over links that are watched",
        proof="a gate saw it ask for records when there were none",
        unless=_needs(
            lambda p: _program(p) and p.profile.watched, "nobody sees here whether it reads"
        ),
        strikes=lambda p, n: [Strike(do=RestartIdle())],
        rare=True,
    ),
)
"""Every hazard that is known, in the order in which a round meets them."""
NAMES: Final = tuple(hazard.name for hazard in TABLE)
