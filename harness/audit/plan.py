"""What one audit reads: offsets of each partition, and what is taken from each record."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from onceproof.harness.audit.bounds import BadBound, Bound
from onceproof.harness.audit.cluster import Cluster, Topic
from onceproof.harness.user_pipeline.effects import Yield
from onceproof.harness.user_pipeline.identity import Rule
from onceproof.harness.user_pipeline.outputs.output import Output

Offsets = dict[int, tuple[int, int]]
"""Partition → first offset, and the one behind the last."""
EARLIEST, LATEST = "earliest", "latest"
SETTLE: Final = 600.0


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """What a user asks for.

    Attributes:
        input: the topic that the pipeline reads; `input_identity`: where its records have their
            identity; `decode_input`: the function that reads their values, if they are no text.
        outputs: where it writes; `yields`: name → what an input comes to there.
        dead_letters: where it puts aside what it cannot process.
        from_, to: which inputs are judged, as `Bound.parse` reads it; `last`: instead of `from_`,
            how many inputs, over all partitions.
        group: the consumer group of the pipeline, if it commits there.
        settle: seconds within which an input has its effects.
        database: how to connect to the database that outputs are in.
    """

    input: str
    input_identity: Rule
    outputs: tuple[Output, ...]
    yields: Mapping[str, Yield]
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
        """All that is read beside the input."""
        return (*self.outputs, *(() if self.dead_letters is None else (self.dead_letters,)))


@dataclass(frozen=True, kw_only=True)
class OutputPlan:
    """What is read of an output that is a topic; of another one all is.

    Attributes:
        oldest: timestamp of the oldest record that retention has left, in milliseconds; None:
            nothing was deleted before what is read.
        newest: timestamp from which on effects may stand behind an open transaction, so that they
            cannot be read; None: all can.
    """

    read: Offsets
    topic: Topic
    oldest: int | None
    newest: int | None


@dataclass(frozen=True, kw_only=True)
class Plan:
    """Offsets that are read, and those of them that are judged.

    Attributes:
        window: the inputs that are asked about; `read`: all that are read.
        outputs: name → what is read of it, of topics.
        committed: what the group has committed.
        open: topic → partition → timestamp of the first record of a transaction that is open.
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
        """Whether the input is read from its very beginning, with nothing deleted."""
        return not self.topic.compacted and all(
            extent.start == 0 and self.read[p][0] == 0
            for p, extent in self.topic.partitions.items()
        )


def plan(wanted: Wanted, cluster: Cluster, now: int) -> Plan:
    """Find out which offsets to read.

    Raises:
        BadBound: the window is empty, or names what there is not.
        UnreadableCluster: a topic or group cannot be read.
    """
    # The group first, for the effects of what it has committed are in the outputs by then; and the
    # outputs before the input, so that the input of each effect is in what is read.
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
        raise BadBound(f"there is no record of {wanted.input} in this window")
    settle = round(wanted.settle * 1000)
    times = cluster.times(topic, first)
    early = _from_the_start(topic, first)
    pending = {
        each.name: cluster.times(
            each, {p: e.stable for p, e in each.partitions.items() if e.stable < e.end}
        )
        for each in {t.name: t for t in (topic, *outputs.values())}.values()
    }
    since = None if early or not times else Bound(at=max(0, min(times.values()) - settle))
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
    wanted: Wanted, cluster: Cluster, topic: Topic
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


def _from_the_start(topic: Topic, first: Mapping[int, int]) -> bool:
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
    # A partition that has lost everything says nothing of when; then nothing is known before now.
    return OutputPlan(
        read=read,
        topic=topic,
        oldest=max(oldest.values(), default=None) if len(oldest) == len(cut) else 2**62,
        newest=None if uncommitted else min(pending[topic.name].values(), default=None),
    )
