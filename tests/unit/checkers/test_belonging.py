"""Consistency of a run's history: missing, duplicated and surplus rows are reported."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from onceproof.checkers import History, Verdict, check
from onceproof.checkers.model import ClaimJudgement
from onceproof.checkers.promised import RequiredHistory
from onceproof.harness.history.folder import Loaded, RunFolder
from onceproof.harness.history.run_record import RunRecord
from onceproof.harness.run.judge import promised_by
from tests.fuzz_runs.base import CLAIM, make_run

Row = dict[str, Any]
Tables = dict[str, pa.Table]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> tuple[Tables, RequiredHistory]:
    folder = make_run(tmp_path_factory.mktemp("runs"))
    history = RunFolder(folder).load_history().history
    # Leave out what the seal records.
    promised = promised_by(RunRecord.load(folder), Loaded(history=history))
    return dict(history), promised


def judged(tables: Tables, promised: RequiredHistory) -> ClaimJudgement:
    (found,) = check(History(tables), [CLAIM], promised=promised).claims
    return found


def drop_rows(tables: Tables, name: str, drop: Callable[[Row], bool]) -> Tables:
    rows = [row for row in tables[name].to_pylist() if not drop(row)]
    assert len(rows) < tables[name].num_rows
    return {**tables, name: pa.Table.from_pylist(rows, schema=tables[name].schema)}


def every_row(_: Row) -> bool:
    return True


def test_complete_run_holds(run: tuple[Tables, RequiredHistory]) -> None:
    assert judged(*run).verdict is Verdict.HOLDS


def test_empty_promise_requires_no_rows(run: tuple[Tables, RequiredHistory]) -> None:
    tables, _ = run
    assert (
        judged(drop_rows(tables, "faults", every_row), RequiredHistory()).verdict is Verdict.HOLDS
    )


@pytest.mark.parametrize(
    ("name", "drop", "message"),
    [
        ("faults", every_row, "fault «driver killed» of the schedule has no row in faults"),
        ("partitions", every_row, "payments-0 has no row in partitions"),
        ("partitions", lambda r: r["partition"] == 1, "payments-1 has no row in partitions"),
        ("log", lambda r: r["offset"] >= 18, "has 18 entries from its start, 0, to its high"),
        ("log", lambda r: (r["partition"], r["offset"]) == (1, 9), "payments-1 has 19 entries"),
        ("sends", every_row, "sends has 0 rows, but the workload has 40 records"),
        ("sends", lambda r: r["ordinal"] == 20, "sends has 39 rows"),
        ("positions", every_row, "positions has no rows"),
        ("positions", lambda r: r["batch"] == 1, "positions reach payments-0@10, but the run"),
        ("instances", every_row, "driver#1, named in positions or effects, has no row"),
        ("instances", lambda r: r["instance"] == "driver#1", "driver had 2 lives"),
        ("instances", lambda r: "producer" in r["instance"], "producer-0, which sent records"),
        ("clocks", every_row, "auditor, which wrote part of the history, has no row in clocks"),
        (
            "clocks",
            lambda r: r["writer"] == "producer-0",
            "producer-0, which wrote part of the history",
        ),
    ],
)
def test_missing_rows_make_the_run_invalid(
    run: tuple[Tables, RequiredHistory], name: str, drop: Callable[[Row], bool], message: str
) -> None:
    tables, promised = run
    found = judged(drop_rows(tables, name, drop), promised)
    assert found.verdict is Verdict.INVALID, found.reason
    assert message in found.reason


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("effects", "effects has 2 rows for ledger at"),
        ("faults", "faults has 2 rows for driver killed"),
        ("phases", "phases has 2 rows for arrange"),
    ],
)
def test_duplicated_rows_make_the_run_invalid(
    run: tuple[Tables, RequiredHistory], name: str, message: str
) -> None:
    tables, promised = run
    twice = pa.concat_tables([tables[name], tables[name].slice(0, 1)])
    found = judged({**tables, name: twice}, promised)
    assert found.verdict is Verdict.INVALID, found.reason
    assert message in found.reason


def test_advisory_positions_need_not_reach_the_end(run: tuple[Tables, RequiredHistory]) -> None:
    tables, promised = run
    behind = drop_rows(tables, "positions", lambda r: r["batch"] == 1)
    rows = [{**row, "role": "advisory"} for row in behind["positions"].to_pylist()]
    schema = tables["positions"].schema
    advisory = {**behind, "positions": pa.Table.from_pylist(rows, schema=schema)}
    assert judged(advisory, promised).verdict is Verdict.HOLDS


def test_acknowledged_entries_of_unknown_kind_make_the_run_invalid(
    run: tuple[Tables, RequiredHistory],
) -> None:
    tables, promised = run
    log = tables["log"].to_pylist()
    odd = [{**row, "kind": "odd"} if row["offset"] == 5 else row for row in log]
    schema = tables["log"].schema
    found = judged({**tables, "log": pa.Table.from_pylist(odd, schema=schema)}, promised)
    assert found.verdict is Verdict.INVALID
    assert "2 log entries are of kind odd" in found.reason


@pytest.mark.parametrize("phase", ["arrange", "heal", "tear-down"])
def test_missing_phase_makes_the_verdict_unknown(
    run: tuple[Tables, RequiredHistory], phase: str
) -> None:
    tables, promised = run
    found = judged(drop_rows(tables, "phases", lambda r: r["phase"] == phase), promised)
    assert found.verdict is Verdict.UNKNOWN
    assert phase in found.reason


def test_input_missing_with_its_effects_makes_the_run_invalid(
    run: tuple[Tables, RequiredHistory],
) -> None:
    tables, promised = run
    kept = {row["record"] for row in tables["log"].to_pylist() if row["offset"] < 10}
    for name in ("log", "expected", "effects"):
        tables = drop_rows(tables, name, lambda r: r["record"] not in kept)
    assert judged(tables, promised).verdict is Verdict.INVALID


def test_reports_fewer_expected_rows_than_written(run: tuple[Tables, RequiredHistory]) -> None:
    tables, promised = run
    for name in ("expected", "effects"):
        tables = drop_rows(tables, name, lambda r: r["record"] == "p0-0007")
    found = judged(tables, promised)
    assert "expected has 39 rows for ledger, but 40 were written" in found.reason


def test_reports_entries_beyond_the_high_watermark(run: tuple[Tables, RequiredHistory]) -> None:
    tables, promised = run
    rows = [{**row, "high_watermark": 19} for row in tables["partitions"].to_pylist()]
    tables = {**tables, "partitions": pa.Table.from_pylist(rows, tables["partitions"].schema)}
    assert "has 1 entries beyond" in judged(tables, promised).reason


def test_byte_offsets_may_have_gaps_but_no_missing_acknowledged_entries(
    run: tuple[Tables, RequiredHistory],
) -> None:
    tables, promised = run
    in_bytes = RequiredHistory(**{**vars(promised), "in_bytes": frozenset({"payments"})})
    assert judged(tables, in_bytes).verdict is Verdict.HOLDS
    found = judged(drop_rows(tables, "log", lambda r: r["record"] == "p0-0007"), in_bytes)
    assert "1 sends to payments were acknowledged, from offset 3 on" in found.reason


def test_reports_fewer_rows_than_sealed(run: tuple[Tables, RequiredHistory]) -> None:
    tables, promised = run
    sealed = RequiredHistory(**{**vars(promised), "rows": {"ranges": 99}})
    assert "ranges has 4 rows, but 99 were sealed" in judged(tables, sealed).reason


def test_doubt_about_the_run_makes_the_verdict_unknown(run: tuple[Tables, RequiredHistory]) -> None:
    tables, promised = run
    doubted = RequiredHistory(**{**vars(promised), "doubt": "its seal is gone"})
    found = judged(tables, doubted)
    assert found.verdict is Verdict.UNKNOWN
    assert "its seal is gone" in found.reason


def test_reports_named_transactions_without_a_row(run: tuple[Tables, RequiredHistory]) -> None:
    tables, promised = run
    rows = [{**row, "txn": "t1"} for row in tables["sends"].to_pylist()]
    tables = {**tables, "sends": pa.Table.from_pylist(rows, tables["sends"].schema)}
    assert "1 transactions named in sends, staged or reads" in judged(tables, promised).reason


@pytest.fixture
def interrupted_run(tmp_path: Path) -> Path:
    """A run whose harness died before anything was collected."""
    folder = make_run(tmp_path, sealed=False)
    (folder / "history" / "auditor.jsonl").unlink()
    return folder


def test_interrupted_run_is_unknown_and_not_invalid(interrupted_run: Path) -> None:
    lines = (interrupted_run / "history" / "harness.jsonl").read_text().splitlines(keepends=True)
    kept = [line for line in lines if '"phases"' not in line or '"arrange"' in line]
    (interrupted_run / "history" / "harness.jsonl").write_text("".join(kept))
    loaded = RunFolder(interrupted_run).load_history()
    promised = promised_by(RunRecord.load(interrupted_run), loaded)
    found = judged(dict(loaded.history), promised)
    assert found.verdict is Verdict.UNKNOWN
    assert "the run ended after phase arrange, before warm-up" in found.reason.lower()
