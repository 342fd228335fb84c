"""Histories are validated when they are created, loaded and judged."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from onceproof.checkers import BadHistory, History, exactly_once_append
from onceproof.checkers.judging import find
from onceproof.checkers.tables import TABLES

CLAIM = exactly_once_append("input")


def test_rows_get_defaults_or_null() -> None:
    history = History.of(sends=[{"record": "a"}], effects=[{}])
    (send,) = history["sends"].to_pylist()
    assert (send["outcome"], send["topic"], send["offset"]) == ("ok", "input", None)
    (effect,) = history["effects"].to_pylist()
    assert (effect["sink"], effect["record"]) == ("ledger", None)


@pytest.mark.parametrize("name", TABLES)
def test_every_table_can_be_made_from_an_empty_row(name: str) -> None:
    assert History.of(**{name: [{}]})[name].num_rows == 1


def test_round_trips_through_a_folder(tmp_path: Path) -> None:
    history = History.of(sends=[{"record": "a"}], log=[{"record": "a"}])
    history.save(tmp_path / "history")
    loaded = History.load(tmp_path / "history")
    assert list(loaded) == list(TABLES)
    for name in TABLES:
        assert loaded[name].equals(history[name])
    assert loaded.missing == ()


def test_moving_to_files_keeps_content_and_source(tmp_path: Path) -> None:
    history = History.of(sends=[{"record": "a"}], log=[{"record": "a"}])
    moved = history.moved(tmp_path)
    assert moved.missing == history.missing
    assert all(moved[name].equals(history[name]) for name in TABLES)
    assert (moved.source, moved.where("log")) == (history.source, history.where("log"))
    assert sorted(f.name for f in tmp_path.iterdir()) == ["log.parquet", "sends.parquet"]


def test_missing_table_is_empty_and_listed(tmp_path: Path) -> None:
    history = History.of(log=[{"record": "a"}])
    assert "sends" in history.missing
    assert history["sends"].num_rows == 0
    assert "log" not in history.missing
    replaced = history.replace("sends", History.of(sends=[{"record": "a"}])["sends"])
    assert "sends" not in replaced.missing
    assert history["sends"].num_rows == 0


def _table(**columns: pa.Array) -> pa.Table:
    table = History.of(sends=[{"record": "a"}])["sends"]
    for name, values in columns.items():
        table = table.set_column(table.column_names.index(name), name, values)
    return table


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (
            _table(record=pa.array([None], pa.string())),
            r"column record: expected a value .* 1 NULL",
        ),
        (_table(offset=pa.array([1], pa.int32())), "column offset: expected int64, found int32"),
        (_table(outcome=pa.array(["OK"])), "column outcome: expected one of fail, info, ok"),
        (_table().drop_columns(["digest"]), "has no column digest"),
        (pa.concat_tables([_table(), _table()]), "2 rows for .*attempt.*; expected 1"),
    ],
)
def test_rejects_invalid_table(table: pa.Table, message: str) -> None:
    with pytest.raises(BadHistory, match=f"^store/history.edn: table sends.*{message}"):
        find(History({"sends": table}, source="store/history.edn"), CLAIM)


def test_log_offset_has_one_row_per_record() -> None:
    a, b, unreadable = ({"record": record, "offset": 7} for record in ("a", "b", None))
    marker = {"kind": "commit", "offset": 7}
    find(History.of(log=[a, b, a | {"offset": 8}, b | {"partition": 1}]), CLAIM)
    wrong = ([a, b, a], 2), ([a, unreadable], 1), ([unreadable, unreadable], 0), ([a, marker], 1)
    for rows, records in wrong:
        with pytest.raises(BadHistory, match=rf"{len(rows)} rows for .*7.*{records} known records"):
            find(History.of(log=rows), CLAIM)


def test_rejects_two_journal_changes_with_one_ordinal() -> None:
    row = {"record": "a", "ordinal": 7}
    find(History.of(journal=[row, row | {"sink": "other"}, row | {"ordinal": 8}]), CLAIM)
    with pytest.raises(BadHistory, match=r"journal has 2 rows for .*7.*; expected 1"):
        find(History.of(journal=[row, row | {"record": "b"}]), CLAIM)


def test_rejects_aggregate_with_two_operations() -> None:
    rows = [
        {"record": "a", "aggregate": "balance", "operation": "sum"},
        {"record": "b", "aggregate": "balance", "operation": "count"},
    ]
    with pytest.raises(BadHistory, match=r"'balance' of sink .* has operations count and sum"):
        find(History.of(contributions=rows), CLAIM)
    rows[1]["aggregate"] = "number"
    find(History.of(contributions=rows), CLAIM)


@pytest.mark.parametrize("table", ["effects", "expected", "journal"])
def test_rejects_effect_key_reserved_for_dead_letters(table: str) -> None:
    row = {"record": "a", "effect_key": "~dead-letter"}
    with pytest.raises(BadHistory, match=f"{table}, column effect_key.*~dead-letter"):
        find(History.of(**{table: [row]}), CLAIM)
    find(History.of(**{table: [row | {"effect_key": "dead-letter"}]}), CLAIM)


def test_rejects_invalid_files(tmp_path: Path) -> None:
    twice = pa.concat_tables([_table(), _table()])
    for name, table in (("twice", twice), ("words", _table(outcome=pa.array(["OK"])))):
        (tmp_path / name).mkdir()
        pq.write_table(table, tmp_path / name / "sends.parquet")
        with pytest.raises(BadHistory, match=rf"/{name}: sends\.parquet"):
            find(History.load(tmp_path / name), CLAIM)


def test_error_about_a_replaced_table_names_the_history(tmp_path: Path) -> None:
    History.of(sends=[{"record": "a"}]).save(tmp_path)
    changed = History.load(tmp_path).replace("sends", pa.concat_tables([_table(), _table()]))
    with pytest.raises(BadHistory, match=f"^{tmp_path}: table sends has 2 rows"):
        find(changed, CLAIM)


def test_load_rejects_a_uri(tmp_path: Path) -> None:
    with pytest.raises(BadHistory, match=r"expected a local path.*open_folder"):
        History.load("s3a://bucket/run/history")


def test_nullable_columns_may_be_missing(tmp_path: Path) -> None:
    table = _table().drop_columns(["error", "returned_at"])
    assert History({"sends": table})["sends"].schema.equals(TABLES["sends"].schema)
    pq.write_table(table, tmp_path / "sends.parquet")
    loaded = History.load(tmp_path)
    assert loaded["sends"]["error"].null_count == 1
    assert [f.anomaly for f in find(loaded, CLAIM)] == []


def test_accepts_other_text_types_and_extra_columns() -> None:
    table = _table(
        record=pa.array(["a"], pa.large_string()),
        topic=pa.array(["input"]).dictionary_encode(),
        key=pa.nulls(1),
    ).append_column("more", pa.array([1]))
    assert History({"sends": table})["sends"].schema.equals(TABLES["sends"].schema)


def test_load_rejects_missing_and_damaged_files(tmp_path: Path) -> None:
    with pytest.raises(BadHistory, match="no such folder"):
        History.load(tmp_path / "nowhere")
    (tmp_path / "log.parquet").write_text("no")
    with pytest.raises(BadHistory, match="expected a Parquet file"):
        History.load(tmp_path)
    pq.write_table(pa.table({"topic": ["a"]}), tmp_path / "log.parquet")
    with pytest.raises(BadHistory, match="has no column partition"):
        History.load(tmp_path)


def test_rejects_unknown_tables_and_columns() -> None:
    with pytest.raises(BadHistory, match="unknown table nothing"):
        History({"nothing": pa.table({})})
    with pytest.raises(BadHistory, match="unknown table nothing"):
        History.of(nothing=[])
    with pytest.raises(BadHistory, match="unknown column colour"):
        History.of(log=[{"colour": 1}])
    with pytest.raises(BadHistory, match="a row does not fit"):
        History.of(log=[{"offset": "seven"}])
