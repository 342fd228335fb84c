"""Positions that a sink keeps beside the effects of a micro-batch.

The one thing to know: a guard in the sink is a position: where the batch ends that it names.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from harness.clock import clock_id, now
from harness.sinks.base import AtomicBatch, Sink
from harness.subjects.checkpoint import Checkpoint


def atomic_positions(checkpoint: Checkpoint, sink: Sink) -> list[dict[str, Any]]:
    """Rows of the `positions` table, one for each partition of each batch that the sink names."""
    return positions_of(checkpoint, sink.atomic_batches(), sink=sink.name)


def positions_of(
    checkpoint: Checkpoint, batches: Iterable[AtomicBatch], *, sink: str
) -> list[dict[str, Any]]:
    """Rows of the `positions` table, one for each partition of each of these batches."""
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
        # Of others the offset log no longer says where they ended.
        if found.batch in planned
        for (topic, partition), offset in sorted(checkpoint.end_of(found.batch).items())
    ]
