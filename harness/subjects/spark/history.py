"""Positions that a sink records atomically with the effects of a micro-batch.

A guard in the sink names a batch, so it is a position: the end offsets of that batch.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from onceproof.harness.clock import clock_id, now
from onceproof.harness.history.tables import Recorded
from onceproof.harness.history.writer import HistoryWriter
from onceproof.harness.sinks.base import AtomicBatch, Sink
from onceproof.harness.subjects.spark.checkpoint import Checkpoint
from onceproof.harness.subjects.spark.ranges import executed_ranges


def atomic_positions(checkpoint: Checkpoint, sink: Sink) -> list[dict[str, Any]]:
    """Return rows of the `positions` table, one per partition of each batch named by the sink."""
    return positions_of(checkpoint, sink.atomic_batches(), sink=sink.name)


def write_each(
    writer: HistoryWriter, recorded: Recorded, sink: Sink, of: Iterable[tuple[Checkpoint, str]]
) -> list[dict[str, Any]]:
    """Write positions and ranges of each query; return the rows of `ranges`.

    `of` has each query's checkpoint, and the name of its sink.
    """
    progress = [row["progress"] for row in recorded.lines.get("progress", [])]
    done, written = sink.atomic_batches(), []
    for checkpoint, name in of:
        query = checkpoint.query_id()
        own: list[AtomicBatch] = [found for found in done if found.owner == query]
        writer.write_all("positions", positions_of(checkpoint, own, sink=name))
        executed = [each for each in progress if each["id"] == query]
        ranges = executed_ranges(checkpoint, executed)
        writer.write_all("ranges", ranges)
        written += ranges
    return written


def positions_of(
    checkpoint: Checkpoint, batches: Iterable[AtomicBatch], *, sink: str
) -> list[dict[str, Any]]:
    planned = set(checkpoint.planned())
    return [
        {
            "owner": found.owner,
            "instance": None,
            "role": "atomic",
            "kind": "done",
            "by": "subject",
            "sink": sink,
            "topic": topic,
            "partition": partition,
            "offset": offset,
            "batch": found.batch,
            "ordinal": found.ordinal,
            "at": now(),
            "clock": clock_id(),
        }
        for found in batches
        # The offset log no longer has the ends of other batches.
        if found.batch in planned
        for (topic, partition), offset in sorted(checkpoint.end_of(found.batch).items())
    ]
