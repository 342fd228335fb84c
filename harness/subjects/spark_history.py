"""Positions that a sink keeps beside the effects of a micro-batch.

The one thing to know: a guard in the sink is a position: where the batch ends that it names.
"""

from __future__ import annotations

from typing import Any

from harness.clock import clock_id, now
from harness.sinks.base import Sink
from harness.subjects.checkpoint import Checkpoint


def atomic_positions(checkpoint: Checkpoint, sink: Sink) -> list[dict[str, Any]]:
    """Rows of the `positions` table, one for each partition of each batch that the sink names."""
    planned = set(checkpoint.planned())
    return [
        {
            "owner": found.owner,
            "instance": None,
            "role": "atomic",
            "kind": "done",
            "by": "subject",
            "sink": sink.name,
            "topic": topic,
            "partition": partition,
            "offset": offset,
            "batch": found.batch,
            "ordinal": found.ordinal,
            "at": now(),
            "clock": clock_id(),
        }
        for found in sink.atomic_batches()
        # Of others the offset log no longer says where they ended.
        if found.batch in planned
        for (topic, partition), offset in sorted(checkpoint.end_of(found.batch).items())
    ]
