"""Reading Spark 4 checkpoints, also damaged ones, and watching them through inotify."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from onceproof.harness.context.pipeline import WatchTrouble
from onceproof.harness.subjects.spark.checkpoint import (
    Checkpoint,
    CheckpointWatch,
    UnreadableCheckpoint,
)
from onceproof.harness.wait import wait_until
from tests.unit.fakes.pipelines import FakeDriver
from tests.unit.harness.subjects.spark.made_up_checkpoint import (
    as_spark_does,
    begin_at,
    entry,
    plan,
    save,
)


@pytest.fixture
def checkpoint(tmp_path: Path) -> Checkpoint:
    made = Checkpoint(tmp_path / "checkpoint")
    made.create()
    return made


def test_end_of_reads_planned_offsets(checkpoint: Checkpoint) -> None:
    plan(checkpoint, 0, entry({"payments": {"0": 12, "1": 7}}))
    assert checkpoint.end_of(0) == {("payments", 0): 12, ("payments", 1): 7}


def test_trailing_newline_is_accepted(checkpoint: Checkpoint) -> None:
    plan(checkpoint, 0, entry({"payments": {"0": 12}}) + "\n")
    assert checkpoint.end_of(0) == {("payments", 0): 12}


def test_end_of_merges_sources_and_topics(checkpoint: Checkpoint) -> None:
    plan(checkpoint, 0, entry({"a": {"0": 1}, "b": {"0": 2}}, {"c": {"10": 3}}))
    assert checkpoint.end_of(0) == {("a", 0): 1, ("b", 0): 2, ("c", 10): 3}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not enough values"),
        ("v1", "not enough values"),
        ("v2\n{}\n{}", "version v2"),
        (entry({"payments": {"0": 1}})[:-5], "delimiter"),
        (entry() + "\nnonsense", "Expecting value"),
        (entry([1]), "'list' object has no attribute 'items'"),
        (entry({"payments": 5}), "'int' object has no attribute 'items'"),
        (entry({"payments": {"zero": 5}}), "invalid literal"),
    ],
)
def test_damaged_entry_error_shows_file_and_content(
    checkpoint: Checkpoint, text: str, message: str
) -> None:
    plan(checkpoint, 3, text)
    with pytest.raises(UnreadableCheckpoint, match=message) as error:
        checkpoint.end_of(3)
    assert str(checkpoint.folder / "offsets" / "3") in str(error.value)
    assert repr(text[:200]) in str(error.value)


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(entry({"payments": {"0": None}}).encode(), id="null offset"),
        pytest.param(b"v1\n{}\n\xff", id="invalid UTF-8"),
        pytest.param(None, id="missing file"),
    ],
)
def test_damaged_or_missing_entry_is_unreadable(checkpoint: Checkpoint, data: bytes | None) -> None:
    if data is not None:
        (checkpoint.folder / "offsets" / "3").write_bytes(data)
    with pytest.raises(UnreadableCheckpoint):
        checkpoint.end_of(3)


def test_range_starts_at_the_end_of_the_previous_batch(checkpoint: Checkpoint) -> None:
    plan(checkpoint, 0, entry({"payments": {"0": 5, "1": 0}}))
    plan(checkpoint, 1, entry({"payments": {"0": 9, "1": 0, "2": 4}}))
    assert checkpoint.range_of(0) == {("payments", 0): (0, 5), ("payments", 1): (0, 0)}
    # Partition 2 was added later, so it is read from its beginning.
    assert checkpoint.range_of(1) == {
        ("payments", 0): (5, 9), ("payments", 1): (0, 0), ("payments", 2): (0, 4)
    }  # fmt: skip


def write_commit(checkpoint: Checkpoint, batch: int, text: str) -> None:
    (checkpoint.folder / "commits" / str(batch)).write_text(text)


def test_advanced_watermark_requires_another_batch(checkpoint: Checkpoint) -> None:
    plan(checkpoint, 3, entry({"payments": {"0": 5}}).replace('Ms":0', 'Ms":1000', 1))
    write_commit(checkpoint, 3, 'v1\n{"nextBatchWatermarkMs":1001}')
    assert checkpoint.watermark_to_come(3)
    write_commit(checkpoint, 3, 'v1\n{"nextBatchWatermarkMs":1000}')
    assert not checkpoint.watermark_to_come(3)
    write_commit(checkpoint, 3, "v1\n{}")
    assert not checkpoint.watermark_to_come(3)


@pytest.mark.parametrize("text", ["", "v1", "v1\n{"])
def test_damaged_commit_error_names_the_file(checkpoint: Checkpoint, text: str) -> None:
    plan(checkpoint, 3, entry({"payments": {"0": 5}}))
    write_commit(checkpoint, 3, text)
    with pytest.raises(UnreadableCheckpoint, match="commits/3"):
        checkpoint.watermark_to_come(3)


def test_query_is_idle_once_its_watermark_needs_no_batch(checkpoint: Checkpoint) -> None:
    driver = FakeDriver(checkpoint=checkpoint)
    assert driver.idle()
    plan(checkpoint, 0, entry({"payments": {"0": 5}}))
    assert not driver.idle()
    write_commit(checkpoint, 0, 'v1\n{"nextBatchWatermarkMs":7}')
    assert not driver.idle()
    plan(checkpoint, 1, entry({"payments": {"0": 5}}).replace('Ms":0', 'Ms":7', 1))
    assert not driver.idle()
    write_commit(checkpoint, 1, 'v1\n{"nextBatchWatermarkMs":7}')
    assert driver.idle()


def test_lists_batches_and_skips_other_files(checkpoint: Checkpoint) -> None:
    for name in ("10", "9", "2", ".2.crc", ".11.0a1b-2c.tmp", "..11.0a.tmp.crc", "3.tmp"):
        for log in ("offsets", "commits"):
            (checkpoint.folder / log / name).touch()
    (checkpoint.folder / "offsets" / "11").touch()
    assert checkpoint.planned() == [2, 9, 10, 11]
    assert checkpoint.committed() == [2, 9, 10]


def test_missing_folder_has_no_batches_and_no_query_id(tmp_path: Path) -> None:
    checkpoint = Checkpoint(tmp_path / "nowhere")
    assert (checkpoint.planned(), checkpoint.committed()) == ([], [])
    assert checkpoint.query_id() is None


def test_query_id_is_read_from_complete_metadata(checkpoint: Checkpoint) -> None:
    (checkpoint.folder / "metadata").write_text('{"id":"')  # being written
    assert checkpoint.query_id() is None
    (checkpoint.folder / "metadata").write_text('{"id":"0f3d"}')
    assert checkpoint.query_id() == "0f3d"


def test_create_keeps_existing_content(checkpoint: Checkpoint) -> None:
    plan(checkpoint, 0, entry({"payments": {"0": 5}}))
    checkpoint.create()
    assert checkpoint.planned() == [0]


def test_state_of_counts_stores_that_have_a_batch(checkpoint: Checkpoint) -> None:
    assert checkpoint.state_of(3).progress == (0, 0)
    for store, ending in (("0", "zip"), ("1", "delta"), ("10", "changelog")):
        save(checkpoint, 2, store, ending=ending)
    (checkpoint.folder / "state" / "0" / "_metadata").mkdir()
    for name in ("4.zip.crc", ".4.zip.0a.TID7.tmp", "4.tmp", "14.zip"):
        (checkpoint.folder / "state" / "0" / "1" / name).touch()
    assert checkpoint.state_of(2).progress == (3, 3)
    assert checkpoint.state_of(3).progress == (0, 3)
    save(checkpoint, 3, "10")
    state = checkpoint.state_of(3)
    assert (state.version, state.progress) == (4, (1, 3))
    assert [store for store, at in state.written.items() if at is not None] == ["0/10"]


def test_anew_counts_rewritten_stores(checkpoint: Checkpoint) -> None:
    save(checkpoint, 2, "0")
    (checkpoint.folder / "state" / "0" / "1").mkdir()
    before = checkpoint.state_of(2)
    save(checkpoint, 2, "1")
    assert before.anew(checkpoint.state_of(2)) == 0, "the other partition's was missing"
    version = checkpoint.folder / "state" / "0" / "0" / "3.zip"
    os.utime(version, ns=(0, (before.written["0/0"] or 0) + 1))
    assert before.anew(checkpoint.state_of(2)) == 1
    version.unlink()
    assert before.anew(checkpoint.state_of(2)) == 0, "it is gone, and not written"


# Watching a checkpoint.


@pytest.fixture
def events() -> list[str]:
    return []


@pytest.fixture
def sink_log(tmp_path: Path) -> Path:
    folder = tmp_path / "files" / "_spark_metadata"
    folder.mkdir(parents=True)
    return folder


@pytest.fixture
def watch(checkpoint: Checkpoint, events: list[str], sink_log: Path) -> Iterator[CheckpointWatch]:
    made = CheckpointWatch(
        checkpoint,
        on_planned=lambda n: events.append(f"planned {n}"),
        on_committed=lambda n: events.append(f"committed {n}"),
        sink_log=sink_log,
    )
    made.on_sign = lambda sign, n: events.append(f"sign: {sign} {n}")
    yield made
    made.close()


def wait_for_events(events: list[str], count: int) -> None:
    wait_until(
        lambda: len(events) >= count, what=f"{count} events", seconds=20, seen=lambda: events
    )


def test_watch_reports_a_batch_from_plan_to_commit(
    checkpoint: Checkpoint, watch: CheckpointWatch, events: list[str]
) -> None:
    as_spark_does(checkpoint.folder / "offsets", 5)()
    wait_for_events(events, 2)
    rename = as_spark_does(checkpoint.folder / "commits", 5)
    wait_for_events(events, 3)
    # Reported between creation and renaming: this is the crash window.
    assert checkpoint.committed() == []
    assert events == ["sign: planned 5", "planned 5", "sign: commit begun 5"]
    rename()
    wait_for_events(events, 5)
    watch.close()
    assert events[3:] == ["sign: committed 5", "committed 5"]
    assert watch.error is None


def test_close_reports_all_pending_events(
    checkpoint: Checkpoint, watch: CheckpointWatch, events: list[str]
) -> None:
    for n in range(30):
        as_spark_does(checkpoint.folder / "offsets", n)()
        as_spark_does(checkpoint.folder / "commits", n)()
    watch.close()
    assert [word for word in events if word.startswith("sign")] == [
        f"sign: {sign} {n}" for n in range(30) for sign in ("planned", "commit begun", "committed")
    ]
    assert [word for word in events if not word.startswith("sign")] == [
        f"{what} {n}" for n in range(30) for what in ("planned", "committed")
    ]


def test_sink_log_entry_is_reported_when_it_begins(
    checkpoint: Checkpoint, watch: CheckpointWatch, events: list[str], sink_log: Path
) -> None:
    rename = as_spark_does(sink_log, 8)
    wait_for_events(events, 1)
    assert not (sink_log / "8").exists()
    rename()
    as_spark_does(sink_log, 9, ending=".compact")()
    watch.close()
    # Files renamed there are not Spark's commits.
    assert events == ["sign: sink commit begun 8", "sign: sink commit begun 9"]
    assert watch.error is None


def test_manifest_belongs_to_the_batch_under_way(
    checkpoint: Checkpoint, watch: CheckpointWatch, events: list[str], sink_log: Path
) -> None:
    name = "8c0a9a0e-93c5-4ab6-a9f5-2f2b0e2a6a40-m0.avro"
    (sink_log / name).touch()  # from creating the table, before any batch
    as_spark_does(checkpoint.folder / "commits", 8)()
    wait_for_events(events, 3)  # events are in order, so the manifest was seen
    for n in (9, 10):
        as_spark_does(checkpoint.folder / "offsets", n)()
    wait_for_events(events, 7)
    for other in (f".{name}.crc", "v3.metadata.json", "optimized-m-8c0a.avro", "snap-1-1-8c.avro"):
        (sink_log / other).touch()
    (sink_log / f"1{name[1:]}").touch()
    watch.close()
    assert events[7:] == ["sign: sink commit begun 10"]
    assert watch.error is None


def test_state_in_new_folders_is_reported(
    checkpoint: Checkpoint, watch: CheckpointWatch, events: list[str]
) -> None:
    state = checkpoint.folder / "state" / "0"
    (state / "0" / "_metadata").mkdir(parents=True)
    (state / "1").mkdir()
    (checkpoint.folder / "offsets" / "0").touch()
    wait_for_events(events, 2)  # the folders came first, so they are watched by now
    for n in (0, 1):
        save(checkpoint, n, "0", ending="zip")
        save(checkpoint, n, "1", ending="delta")
    (state / "0" / "_metadata" / "3.zip").touch()
    watch.close()
    assert events[2:] == ["sign: state commit begun 0"] * 2 + ["sign: state commit begun 1"] * 2
    assert watch.error is None


def test_existing_state_folders_are_watched(checkpoint: Checkpoint, events: list[str]) -> None:
    save(checkpoint, 0, "0")
    watch = CheckpointWatch(checkpoint, on_planned=lambda n: None, on_committed=lambda n: None)
    watch.on_sign = lambda sign, n: events.append(f"{sign} {n}")
    save(checkpoint, 1, "0")
    watch.close()
    assert events == ["state commit begun 1"]


def test_watch_works_without_a_sign_handler(
    checkpoint: Checkpoint, watch: CheckpointWatch, events: list[str]
) -> None:
    watch.on_sign = None
    as_spark_does(checkpoint.folder / "commits", 1)()
    watch.close()
    assert events == ["committed 1"]
    assert watch.error is None


def test_handler_error_is_kept_for_check(checkpoint: Checkpoint) -> None:
    def fail(batch: int) -> None:
        raise ZeroDivisionError(batch)

    watch = CheckpointWatch(checkpoint, on_planned=fail, on_committed=fail)
    as_spark_does(checkpoint.folder / "offsets", 7)()
    wait_until(lambda: watch.error, what="the error", seconds=20)
    with pytest.raises(WatchTrouble, match=r"watching .* failed: ZeroDivisionError: 7"):
        watch.check()
    watch.close()


def test_first_range_starts_where_the_query_begins(checkpoint: Checkpoint) -> None:
    assert checkpoint.begins() == {}
    begin_at(checkpoint, '{"payments":{"0":3,"1":0}}')
    begin_at(checkpoint, '{"refunds":{"0":7}}', source=1)
    plan(checkpoint, 0, entry({"payments": {"0": 9, "1": 2}}, {"refunds": {"0": 8}}))
    assert checkpoint.range_of(0) == {
        ("payments", 0): (3, 9), ("payments", 1): (0, 2), ("refunds", 0): (7, 8),
    }  # fmt: skip


@pytest.mark.parametrize("text", ["", "7", "{", '{"payments": 7}'])
def test_unreadable_beginning_is_refused(checkpoint: Checkpoint, text: str) -> None:
    begin_at(checkpoint, text)
    with pytest.raises(UnreadableCheckpoint, match="sources/0/0"):
        checkpoint.begins()


def test_beginning_of_unknown_version_is_refused(checkpoint: Checkpoint) -> None:
    begin_at(checkpoint, "{}")
    (checkpoint.folder / "sources" / "0" / "0").write_text("v2\n{}")
    with pytest.raises(UnreadableCheckpoint, match="version v2"):
        checkpoint.begins()
