"""Collect logs, end offsets, effects, committed offsets and executed ranges after a run.

It reads everything to the end, bypassing the proxies. An interrupted collection can be loaded.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

from onceproof.harness.context.run_context import Collected, RunContext
from onceproof.harness.history.identity import ATTEMPT_HEADER, ODD_HEADER, RECORD_HEADER, digest
from onceproof.harness.history.tables import read_lines
from onceproof.harness.history.writer import HistoryWriter
from onceproof.harness.kafka.log_reader import PartitionLog


def collect(context: RunContext, history: Path) -> Collected:
    """Write everything to the history; return what faults need to record their hazards.

    Raises:
        UnreadableLog: a partition could not be read to its end.
    """
    writer = HistoryWriter(history, "auditor")
    with context.reader() as reader:
        sink = context.open_sink(reader)
        for topic in context.topics:
            logs = list(reader.read_topic(topic))
            of_inputs = topic in context.inputs
            late = context.subject.lateness(logs, sink, history) if of_inputs else {}
            for log in logs:
                write_log(writer, log, late)
        writer.write_all("effects", [asdict(effect) for effect in sink.effects()])
        writer.write_all("state", [asdict(state) for state in sink.states()])
        writer.write_all("contributions", list(context.subject.contributions_of_log(reader)))
        recorded = read_lines(history)
        context.pipeline.collect(writer, recorded, sink)
    writer.close()
    return Collected(
        returned={
            row["attempt"]: (row["outcome"], row["returned_at"])
            for row in recorded.lines.get("returned", [])
        }
    )


def write_log(
    writer: HistoryWriter, log: PartitionLog, late: Mapping[tuple[int, int], str]
) -> None:
    writer.write(
        "partitions",
        topic=log.topic,
        partition=log.partition,
        log_start=log.log_start,
        last_stable_offset=log.last_stable_offset,
        high_watermark=log.high_watermark,
        cleanup_policy="delete",
    )
    rows = []
    for entry, committed in zip(log.entries, log.committed(), strict=True):
        data = entry.kind == "data"
        record, attempt = (entry.headers.get(h) for h in (RECORD_HEADER, ATTEMPT_HEADER))
        rows.append(
            {
                "topic": entry.topic,
                "partition": entry.partition,
                "offset": entry.offset,
                "kind": "odd" if ODD_HEADER in entry.headers else entry.kind,
                "record": record.decode(errors="replace") if data and record else None,
                "attempt": attempt.decode(errors="replace") if data and attempt else None,
                "key": entry.key.decode(errors="replace") if data and entry.key else None,
                "digest": digest(entry.key, entry.value) if data else None,
                "producer_id": entry.producer_id,
                "epoch": entry.epoch,
                "sequence": entry.sequence if data else None,
                "committed": committed,
                "lateness": late.get((entry.partition, entry.offset)),
            }
        )
    writer.write_all("log", rows)
