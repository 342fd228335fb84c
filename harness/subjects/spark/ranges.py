"""Which offsets each execution of each micro-batch processed.

The offset log has only a batch's *end*. What was executed is in the query's progress events, keyed
by (query id, run id, batch id), so that a replayed batch is not confused with one assigned twice. A
batch whose driver died before the event is taken from the offset log and marked `planned`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from onceproof.harness.subjects.spark.checkpoint import Checkpoint, offsets_of

Progress = Mapping[str, Any]


def executed_ranges(checkpoint: Checkpoint, events: Iterable[Progress]) -> list[dict[str, Any]]:
    """Return rows of the `ranges` table; `events` must be in order."""
    committed = set(checkpoint.committed())
    last: dict[int, str] = {}
    rows: dict[tuple[int, str], list[dict[str, Any]]] = {}
    for progress in events:
        batch, execution = int(progress["batchId"]), str(progress["runId"])
        last[batch] = execution
        rows[batch, execution] = list(_rows(checkpoint, execution, batch, progress))
    query = checkpoint.query_id() or "?"
    planned = set(checkpoint.planned())
    for batch in committed - last.keys():
        if batch and batch - 1 not in planned:
            continue  # Spark has purged the entry with its start
        last[batch] = "unknown"
        rows[batch, "unknown"] = [
            _row(query, "unknown", batch, topic, partition, start, end, "planned")
            for (topic, partition), (start, end) in checkpoint.range_of(batch).items()
        ]
    return [
        row | {"committed": batch in committed and last[batch] == execution}
        for (batch, execution), found in sorted(rows.items())
        for row in found
    ]


def _rows(
    checkpoint: Checkpoint, execution: str, batch: int, progress: Progress
) -> Iterable[dict[str, Any]]:
    query = str(progress["id"])
    for source in progress["sources"]:
        start_offset = source["startOffset"]
        # In its first batch a query does not report its starting offsets.
        starts = checkpoint.begins() if start_offset is None else offsets_of(start_offset)
        for (topic, partition), end in offsets_of(source["endOffset"] or {}).items():
            start = starts.get((topic, partition), 0)
            yield _row(query, execution, batch, topic, partition, start, end, "progress")


def _row(
    owner: str,
    execution: str,
    batch: int,
    topic: str,
    partition: int,
    start: int,
    end: int,
    source: str,
) -> dict[str, Any]:
    return {
        "owner": owner,
        "execution": execution,
        "batch": batch,
        "topic": topic,
        "partition": partition,
        "start_offset": start,
        "end_offset": end,
        "source": source,
    }
