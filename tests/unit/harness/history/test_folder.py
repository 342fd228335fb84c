"""The run folder: its name, its history, and sealing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime, tzinfo
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from onceproof.checkers.bad_history import BadHistory
from onceproof.checkers.local_folder import LocalFolder
from onceproof.checkers.seal import LogEnd, read_seal
from onceproof.harness.history import folder as module
from onceproof.harness.history.folder import RunFolder
from onceproof.harness.history.tables import DamagedHistory
from onceproof.harness.history.writer import HistoryWriter
from tests.unit.harness.history.test_run_record import RECORD


class Frozen(datetime):
    @classmethod
    def now(cls, tz: tzinfo | None = None) -> datetime:
        return datetime(2026, 11, 1, 12, 30, 45, tzinfo=tz)


@pytest.fixture
def frozen_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "datetime", Frozen)


def content(folder: Path) -> dict[str, bytes]:
    return {p.name: p.read_bytes() for p in folder.glob("*.jsonl")}


def tables(history: Mapping[str, pa.Table]) -> dict[str, list[dict[str, Any]]]:
    return {name: table.to_pylist() for name, table in history.items()}


@pytest.fixture
def recorded(tmp_path: Path) -> RunFolder:
    """A folder with lines of two writers, one of them cut short."""
    run = RunFolder.create(tmp_path, "story", 7)
    RECORD.save(run.path)
    harness = HistoryWriter(run.history, "harness")
    phase = {"phase": "settle", "started_at": 1, "clock": "c"}
    harness.write("phases", **phase)
    harness.write("phases", **phase, ended_at=2, outcome="ok", detail="«gut»")
    harness.write_all(
        "hazards",
        [
            {"hazard": "h", "hop": "produce", "at": n, "clock": "c", "detail": "d", "attempt": a}
            for n, a in enumerate(["x", None])
        ],
    )
    producer = HistoryWriter(run.history, "producer-0")
    for n in range(3):
        producer.write(
            "called", attempt=f"a{n}", record=f"r{n}", digest="d", ordinal=n, session="s",
            topic="t", called_at=n, clock="c",
        )  # fmt: skip
    producer.write("returned", attempt="a1", outcome="ok", returned_at=9, partition=0, offset=2**40)
    with producer.path.open("ab") as torn:
        torn.write(b'{"t":"returned","attempt":"a2","outc')
    return run


@pytest.mark.usefixtures("frozen_clock")
def test_folder_name_has_time_scenario_and_seed(tmp_path: Path) -> None:
    run = RunFolder.create(tmp_path / "runs", "spark-kafka-sink", 7)
    assert run.path == tmp_path / "runs" / "20261101T123045Z-spark-kafka-sink-7"
    assert sorted(p.name for p in run.path.iterdir()) == ["history", "logs", "work"]


@pytest.mark.usefixtures("frozen_clock")
def test_runs_in_one_second_get_distinct_folders(tmp_path: Path) -> None:
    paths = {RunFolder.create(tmp_path, "story", 7).path for _ in range(100)}
    assert len(paths) == 100
    with pytest.raises(FileExistsError, match="already has 100 runs with this name"):
        RunFolder.create(tmp_path, "story", 7)


@pytest.mark.parametrize("name", ["../../etc", "a/b", "é «x»", " ", "-", "a b\nc"])
def test_scenario_name_cannot_escape_the_runs_folder(tmp_path: Path, name: str) -> None:
    run = RunFolder.create(tmp_path, name, 7)
    assert run.path.parent == tmp_path
    assert run.path.name.isascii()
    assert " " not in run.path.name


def test_file_instead_of_runs_folder_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "runs").touch()
    with pytest.raises(OSError, match="runs"):
        RunFolder.create(tmp_path / "runs", "story", 7)


def test_tables_equal_the_lines_they_were_sealed_from(recorded: RunFolder) -> None:
    loaded = recorded.load_history()
    from_lines, limits = loaded.history, loaded.limits
    assert limits == ("the last line of producer-0.jsonl was cut short",)
    assert recorded.seal() == limits
    from_tables = recorded.load_history().history
    assert tables(from_tables) == tables(from_lines)
    for name, table in from_lines.items():
        assert from_tables[name].schema.equals(table.schema)
    outcomes = {s["attempt"]: s["outcome"] for s in from_tables["sends"].to_pylist()}
    assert outcomes == {"a0": "info", "a1": "ok", "a2": "info"}
    assert [p["outcome"] for p in from_tables["phases"].to_pylist()] == ["ok"]


def test_sealing_replaces_lines_with_tables(recorded: RunFolder) -> None:
    history = recorded.load_history().history
    recorded.seal()
    names = {p.name for p in recorded.history.iterdir()}
    assert names == {f"{n}.parquet" for n in history} | {"limits.json", "seal.json"}


def test_removed_table_is_refused(recorded: RunFolder) -> None:
    recorded.seal()
    (recorded.history / "faults.parquet").unlink()
    with pytest.raises(BadHistory, match=r"faults\.parquet was removed since the run sealed it"):
        recorded.load_history()
    with pytest.raises(DamagedHistory, match=r"missing faults\.parquet; restore"):
        recorded.load_history(unsealed=True)


@pytest.mark.parametrize("name", ["auditor", "harness", "workload"])
def test_line_cut_short_after_collect_fails_the_collect_phase(
    recorded: RunFolder, name: str
) -> None:
    phase = {"phase": "collect", "started_at": 3, "clock": "c"}
    HistoryWriter(recorded.history, "harness").write("phases", **phase, outcome="ok")
    history = recorded.load_history().history
    assert history["phases"].to_pylist()[-1]["outcome"] == "ok", "a producer may be killed"
    with (recorded.history / f"{name}.jsonl").open("ab") as torn:
        torn.write(b'{"t":"effects","sink"')
    loaded = recorded.load_history()
    history, limits = loaded.history, loaded.limits
    last = history["phases"].to_pylist()[-1]
    assert (last["phase"], last["outcome"]) == ("collect", "failed")
    assert last["detail"] == f"the last line of {name}.jsonl was cut short"
    assert f"the last line of {name}.jsonl was cut short" in limits


def test_failed_table_write_keeps_the_lines(
    recorded: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, expected = content(recorded.history), tables(recorded.load_history().history)
    write, written = module.pq.write_table, []

    def full(table: pa.Table, path: Path) -> None:
        written.append(path)
        if len(written) == 5:
            raise OSError(28, "No space left on device")
        write(table, path)

    with monkeypatch.context() as disk:
        disk.setattr(module.pq, "write_table", full)
        with pytest.raises(OSError, match="No space left"):
            recorded.seal()
    assert content(recorded.history) == before
    assert not list(recorded.history.glob("*.parquet"))
    assert tables(recorded.load_history().history) == expected
    recorded.seal()
    assert tables(recorded.load_history().history) == expected


def test_table_with_missing_rows_keeps_the_lines(
    recorded: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = content(recorded.history)
    write = module.pq.write_table
    monkeypatch.setattr(module.pq, "write_table", lambda t, path: write(t.slice(1), path))
    with pytest.raises(OSError, match="does not contain the rows that were written"):
        recorded.seal()
    assert content(recorded.history) == before
    assert not list(recorded.history.glob("*.parquet"))


def test_damaged_lines_are_not_sealed(recorded: RunFolder) -> None:
    path = recorded.history / "harness.jsonl"
    path.write_bytes(b"damaged\n" + path.read_bytes())
    before = content(recorded.history)
    with pytest.raises(DamagedHistory, match=r"harness\.jsonl, line 1"):
        recorded.seal()
    assert content(recorded.history) == before


def test_interrupted_rename_of_tables_loses_nothing(
    recorded: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = tables(recorded.load_history().history)
    replace, count = Path.replace, [0]

    def interrupted(self: Path, target: Path) -> Path:
        count[0] += 1
        if count[0] == 4:
            raise KeyboardInterrupt
        return replace(self, target)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", interrupted)
        with pytest.raises(KeyboardInterrupt):
            recorded.seal()
    assert tables(recorded.load_history().history) == expected


def test_interrupted_removal_of_lines_loses_nothing(
    recorded: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = tables(recorded.load_history().history)
    unlink, count = Path.unlink, [0]

    def interrupted(self: Path, missing_ok: bool = False) -> None:
        count[0] += 1
        if count[0] == 2:
            raise KeyboardInterrupt
        unlink(self, missing_ok)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "unlink", interrupted)
        with pytest.raises(KeyboardInterrupt):
            recorded.seal()
    assert tables(recorded.load_history().history) == expected


def test_sealing_again_changes_nothing(recorded: RunFolder) -> None:
    recorded.seal()
    expected = tables(recorded.load_history().history)
    recorded.seal()
    assert tables(recorded.load_history().history) == expected


def test_sealed_history_keeps_its_limits(recorded: RunFolder) -> None:
    limits = recorded.seal()
    assert recorded.load_history().limits == limits


def test_history_without_limits_has_no_limits_file(tmp_path: Path) -> None:
    run = RunFolder.create(tmp_path, "story", 7)
    RECORD.save(run.path)
    HistoryWriter(run.history, "harness").write("progress")
    assert run.seal() == ()
    assert run.load_history().limits == ()
    assert not (run.history / "limits.json").exists()


def test_unreadable_limits_are_refused(recorded: RunFolder) -> None:
    recorded.seal()
    (recorded.history / "limits.json").write_text("[")
    with pytest.raises(BadHistory, match=r"limits\.json was changed since the run sealed it"):
        recorded.load_history()
    with pytest.raises(DamagedHistory, match=r"limits\.json is not a JSON list"):
        recorded.load_history(unsealed=True)


def _rewrite(folder: RunFolder, name: str, rows: slice) -> None:
    path = folder.history / name
    table = pq.read_table(path)
    pq.write_table(table.take(list(range(table.num_rows))[rows]), path)


def test_changed_table_is_refused_and_named(recorded: RunFolder) -> None:
    recorded.seal()
    _rewrite(recorded, "sends.parquet", slice(1, None))
    with pytest.raises(BadHistory, match=r"history: sends\.parquet was changed since .*--unsealed"):
        recorded.load_history()
    loaded = recorded.load_history(unsealed=True)
    assert loaded.changed == "sends.parquet was changed since the run sealed it"
    assert loaded.rows["sends"] == loaded.history.rows("sends") + 1
    assert loaded.doubt is None


def test_changed_run_record_is_refused(recorded: RunFolder) -> None:
    recorded.seal()
    RECORD.model_copy(update={"schedule": []}).save(recorded.path)
    with pytest.raises(BadHistory, match=r"run\.json was changed since the run sealed it"):
        recorded.load_history()
    with pytest.raises(BadHistory, match=r"run\.json was changed since"):
        recorded.check_record()


@pytest.mark.parametrize(
    "damage",
    [
        lambda seal: seal.unlink(),
        lambda seal: seal.write_text(seal.read_text().replace('"rows": 3', '"rows": 2')),
        lambda seal: seal.write_text("[" * 100_000),
        lambda seal: seal.write_text("{}"),
        lambda seal: seal.write_bytes(b"\xff"),
    ],
    ids=["removed", "edited", "nested", "empty", "not-utf-8"],
)
def test_missing_or_damaged_seal_is_refused(
    recorded: RunFolder, damage: Callable[[Path], object]
) -> None:
    recorded.seal()
    damage(recorded.history / "seal.json")
    with pytest.raises(BadHistory, match=r"seal\.json.*--unsealed"):
        recorded.load_history()
    assert "seal.json" in str(recorded.load_history(unsealed=True).doubt)


def test_seal_has_log_ends_schedule_and_row_counts(recorded: RunFolder) -> None:
    end = {"topic": "t", "partition": 0, "log_start": 2, "high_watermark": 9}
    HistoryWriter(recorded.history, "auditor").write(
        "partitions", **end, last_stable_offset=9, cleanup_policy="delete"
    )
    recorded.seal()
    seal = read_seal(LocalFolder(recorded.history))
    assert seal.logs == (LogEnd(**end),)
    assert seal.schedule == ("a",)
    assert seal.rows["sends"] == 3


def test_folder_without_history_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DamagedHistory, match="has no folder `history`: nothing was recorded"):
        RunFolder(tmp_path).load_history()


def test_relative_runs_folder_is_resolved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Processes of a run have other working directories.
    monkeypatch.chdir(tmp_path)
    run = RunFolder.create(Path("runs"), "story", 7)
    assert run.path.parent == tmp_path / "runs"
    assert run.work.is_dir()


def test_folder_is_private_to_its_owner(tmp_path: Path) -> None:
    assert RunFolder.create(tmp_path, "story", 7).path.stat().st_mode & 0o777 == 0o700
