"""Plan an audit: which offsets of each partition to read, and which to judge."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from onceproof.harness.audit.bounds import BadBound, Bound
from onceproof.harness.audit.cluster import Cluster, Topic
from onceproof.harness.user_pipeline.effects import ExpectedEffects
from onceproof.harness.user_pipeline.identity import Rule
from onceproof.harness.user_pipeline.outputs.output import Output

Offsets = dict[int, tuple[int, int]]
"""Partition → first offset, and the one after the last."""
EARLIEST, LATEST = "earliest", "latest"
SETTLE: Final = 600.0


@dataclass(frozen=True, kw_only=True)
class AuditRequest:
    """The options of an audit.

    Attributes:
        yields: output name → the effects that an input must have there.
        from_, to: the inputs to judge, in the syntax of `Bound.parse`.
        last: number of inputs to judge over all partitions, instead of `from_`.
        group: the pipeline's consumer group, if it commits offsets to Kafka.
        settle: seconds within which an input has its effects.
        database: how to connect to the database that holds outputs.
        dead_letters: the output for inputs that the pipeline cannot process.
        decode_input: the function that decodes input values; None: they are text.
    """

    input: str
    input_identity: Rule
    outputs: tuple[Output, ...]
    yields: Mapping[str, ExpectedEffects]
    from_: str = EARLIEST
    to: str = LATEST
    last: int | None = None
    group: str | None = None
    settle: float = SETTLE
    database: str = ""
    dead_letters: Output | None = None
    decode_input: str | None = None

    @property
    def places(self) -> tuple[Output, ...]:
        """The outputs, including the dead letters."""
        return (*self.outputs, *(() if self.dead_letters is None else (self.dead_letters,)))


@dataclass(frozen=True, kw_only=True)
class OutputPlan:
    """What to read of an output topic. Other outputs are read completely.

    Attributes:
        oldest: timestamp in milliseconds of the oldest record that retention left; None: it deleted
            nothing that matters.
        newest: timestamp in milliseconds from which effects may follow an open transaction and so
            be unreadable; None: all are readable.
    """

    read: Offsets
    topic: Topic
    oldest: int | None
    newest: int | None


@dataclass(frozen=True, kw_only=True)
class Plan:
    """The offsets to read, and those to judge.

    Attributes:
        window, read: offsets of the inputs to judge, and to read.
        outputs: name → what to read of it; topics only.
        committed: partition → committed offset of the group; None: no group is known.
        open: topic → partition → timestamp of the first record at or after the last stable offset,
            if a transaction is open.
        now: milliseconds since 1970 when this was planned.
    """

    topic: Topic
    window: Offsets
    read: Offsets
    outputs: Mapping[str, OutputPlan]
    committed: Mapping[int, int] | None
    open: Mapping[str, Mapping[int, int]]
    now: int

    @property
    def whole(self) -> bool:
        """Whether the input is read from offset 0, and nothing of it was deleted."""
        return not self.topic.compacted and all(
            extent.start == 0 and self.read[p][0] == 0
            for p, extent in self.topic.partitions.items()
        )


def plan(wanted: AuditRequest, cluster: Cluster, now: int) -> Plan:
    """Determine which offsets to read.

    Raises:
        BadBound: the window is empty, or names a partition that does not exist.
        UnreadableCluster: a topic or group cannot be read.
    """
    # The group first: the outputs then include the effects of all it committed. The outputs before
    # the input: the input of each effect is then within the offsets to read.
    committed = (
        None
        if wanted.group is None
        else cluster.committed(wanted.group, cluster.topic(wanted.input))
    )
    outputs = {out.name: cluster.topic(out.topic) for out in wanted.places if out.topic}
    topic = cluster.topic(wanted.input)
    first, last = _window(wanted, cluster, topic)
    window = {p: (first[p], max(first[p], last[p])) for p in topic.partitions}
    if all(start == end for start, end in window.values()):
        raise BadBound(f"{wanted.input} has no record in this window")
    settle = round(wanted.settle * 1000)
    times = cluster.times(topic, first)
    from_start = _starts_at_beginning(topic, first)
    pending = {
        each.name: cluster.times(
            each, {p: e.stable for p, e in each.partitions.items() if e.stable < e.end}
        )
        for each in {t.name: t for t in (topic, *outputs.values())}.values()
    }
    since = None if from_start or not times else Bound(at=max(0, min(times.values()) - settle))
    return Plan(
        topic=topic,
        window=window,
        read=_read(cluster, topic, since),
        outputs={
            out.name: _output(cluster, outputs[out.name], out.view, since, pending)
            for out in wanted.places
            if out.topic
        },
        committed=committed,
        open={name: times for name, times in pending.items() if times},
        now=now,
    )


def _window(
    wanted: AuditRequest, cluster: Cluster, topic: Topic
) -> tuple[dict[int, int], dict[int, int]]:
    starts = {p: extent.start for p, extent in topic.partitions.items()}
    ends = {p: extent.stable for p, extent in topic.partitions.items()}
    to = Bound.parse(wanted.to, end=LATEST)
    last = cluster.resolved(topic, to, otherwise=ends)
    last = {p: min(at, ends[p]) for p, at in last.items()}
    if wanted.last is None:
        return cluster.resolved(
            topic, Bound.parse(wanted.from_, end=EARLIEST), otherwise=starts
        ), last
    each = -(-wanted.last // len(topic.partitions))
    return {p: max(starts[p], at - each) for p, at in last.items()}, last


def _starts_at_beginning(topic: Topic, first: Mapping[int, int]) -> bool:
    return all(first[p] <= extent.start for p, extent in topic.partitions.items())


def _read(cluster: Cluster, topic: Topic, since: Bound | None) -> Offsets:
    starts = {p: extent.start for p, extent in topic.partitions.items()}
    first = cluster.resolved(topic, since or Bound(), otherwise=starts)
    return {p: (first[p], max(first[p], e.stable)) for p, e in topic.partitions.items()}


def _output(
    cluster: Cluster,
    topic: Topic,
    view: str,
    since: Bound | None,
    pending: Mapping[str, Mapping[int, int]],
) -> OutputPlan:
    starts = {p: extent.start for p, extent in topic.partitions.items()}
    first = cluster.resolved(topic, since or Bound(), otherwise=starts)
    uncommitted = view == "read_uncommitted"
    read = {
        p: (first[p], max(first[p], e.end if uncommitted else e.stable))
        for p, e in topic.partitions.items()
    }
    cut = [p for p, e in topic.partitions.items() if e.start > 0 and first[p] == e.start]
    oldest = cluster.times(topic, {p: starts[p] for p in cut})
    # A partition emptied by retention has no timestamp left: no input then counts as passed.
    return OutputPlan(
        read=read,
        topic=topic,
        oldest=max(oldest.values(), default=None) if len(oldest) == len(cut) else 2**62,
        newest=None if uncommitted else min(pending[topic.name].values(), default=None),
    )
