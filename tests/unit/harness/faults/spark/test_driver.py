"""How much of a micro-batch is in the sink."""

from __future__ import annotations

from pathlib import Path

from onceproof.harness.faults.spark.driver import sink_of_batches
from onceproof.harness.history.identity import RECORD_HEADER
from onceproof.harness.kafka.log_reader import Entry
from onceproof.harness.subjects.spark.checkpoint import Checkpoint
from tests.unit.fakes import logs
from tests.unit.fakes.pipelines import FakeDriver
from tests.unit.fakes.run_context import FakeContext, FakeSink, FakeSinkOfSums, effect
from tests.unit.harness.subjects.spark.made_up_checkpoint import entry as offsets
from tests.unit.harness.subjects.spark.made_up_checkpoint import plan


def entry(offset: int, record: str, *, kind: str = "data", producer: int = 1) -> Entry:
    headers = {RECORD_HEADER: record.encode()}
    return logs.entry(offset, kind=kind, headers=headers, producer=producer)


def count_effects(
    folder: Path,
    entries: list[Entry],
    *effects: str,
    batches: frozenset[int] | None = None,
    written_by: int | None = None,
    query: str | None = None,
) -> tuple[int, int]:
    """Effects and records of batch 1 of query q1, which has offsets 2 to 4.

    The sink shows whole batches if `batches` are given.
    """
    checkpoint = Checkpoint(folder / "checkpoint")
    checkpoint.create()
    (checkpoint.folder / "metadata").write_text('{"id": "q1"}')
    plan(checkpoint, 0, offsets({"payments": {"0": 2}}))
    plan(checkpoint, 1, offsets({"payments": {"0": 5}}))

    there = [effect(record, batch=written_by, owner=query) for record in effects]
    context = FakeContext(
        pipeline=FakeDriver(checkpoint=checkpoint),
        logs=logs.FakeReader([logs.log(*entries)]),
        sink=FakeSink(there=there)
        if batches is None
        else FakeSinkOfSums(there=there, shown=batches),
    )
    return sink_of_batches(context).of(1)


def test_counts_only_committed_records_of_the_batch(tmp_path: Path) -> None:
    log = [
        entry(1, "before"),
        entry(2, "a"),
        entry(3, "aborted", producer=2),
        entry(4, "b"),
        entry(5, "after"),
        entry(6, "", kind="commit"),
        entry(7, "", kind="abort", producer=2),
    ]
    assert count_effects(tmp_path, log, "before", "a", "after", "aborted") == (1, 2)
    assert count_effects(tmp_path, log) == (0, 2)
    assert count_effects(tmp_path, log, "a", "a", "b") == (2, 2)


def test_sink_of_sums_shows_whole_batches(tmp_path: Path) -> None:
    log = [entry(2, "a"), entry(3, "b"), entry(6, "", kind="commit")]
    assert count_effects(tmp_path, log, batches=frozenset({0, 1})) == (2, 2)
    assert count_effects(tmp_path, log, "a", "b", batches=frozenset({0, 2})) == (0, 2)


def test_ignores_effects_of_another_batch(tmp_path: Path) -> None:
    log = [entry(2, "a"), entry(3, "b"), entry(6, "", kind="commit")]
    assert count_effects(tmp_path, log, "a", written_by=0) == (0, 2)
    assert count_effects(tmp_path, log, "a", written_by=1) == (1, 2)


def test_ignores_effects_of_another_query(tmp_path: Path) -> None:
    log = [entry(2, "a"), entry(3, "b"), entry(6, "", kind="commit")]
    assert count_effects(tmp_path, log, "a", written_by=1, query="q2") == (0, 2)
    assert count_effects(tmp_path, log, "a", written_by=1, query="q1") == (1, 2)
