"""What comes in is checked at the door."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from onceproof.checkers import BadHistory, History, exactly_once_append
from onceproof.checkers.judging import find
from onceproof.checkers.tables import TABLES

CLAIM = exactly_once_append("input")


def test_rows_get_sensible_defaults_and_unknown_is_null() -> None:
    history = History.of(sends=[{"record": "a"}], effects=[{}])
    (send,) = history["sends"].to_pylist()
    assert (send["outcome"], send["topic"], send["offset"]) == ("ok", "input", None)
    (effect,) = history["effects"].to_pylist()
    assert (effect["sink"], effect["record"]) == ("ledger", None)


@pytest.mark.parametrize("name", TABLES)
def test_every_table_can_be_made_from_an_empty_row(name: str) -> None:
    assert History.of(**{name: [{}]})[name].num_rows == 1


def test_saved_and_loaded_it_is_the_same(tmp_path: Path) -> None:
    history = History.of(sends=[{"record": "a"}], log=[{"record": "a"}])
    history.save(tmp_path / "history")
    loaded = History.load(tmp_path / "history")
    assert list(loaded) == list(TABLES)
    for name in TABLES:
        assert loaded[name].equals(history[name])
    assert loaded.missing == ()


def test_moved_to_files_it_is_the_same_and_called_the_same(tmp_path: Path) -> None:
    history = History.of(sends=[{"record": "a"}], log=[{"record": "a"}])
    moved = history.moved(tmp_path)
    assert moved.missing == history.missing
    assert all(moved[name].equals(history[name]) for name in TABLES)
    assert (moved.source, moved.where("log")) == (history.source, history.where("log"))
    assert sorted(f.name for f in tmp_path.iterdir()) == ["log.parquet", "sends.parquet"]


def test_a_missing_table_is_empty_and_noted(tmp_path: Path) -> None:
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
    ("table", "said"),
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
def test_what_does_not_fit_is_refused(table: pa.Table, said: str) -> None:
    with pytest.raises(BadHistory, match=f"^store/history.edn: table sends.*{said}"):
        find(History({"sends": table}, source="store/history.edn"), CLAIM)


def test_a_place_of_a_log_has_one_row_for_each_record_that_was_seen_there() -> None:
    a, b, nobody = ({"record": record, "offset": 7} for record in ("a", "b", None))
    marker = {"kind": "commit", "offset": 7}
    find(History.of(log=[a, b, a | {"offset": 8}, b | {"partition": 1}]), CLAIM)
    wrong = ([a, b, a], 2), ([a, nobody], 1), ([nobody, nobody], 0), ([a, marker], 1)
    for rows, records in wrong:
        with pytest.raises(BadHistory, match=rf"{len(rows)} rows for .*7.*{records} known records"):
            find(History.of(log=rows), CLAIM)


def test_no_two_changes_of_a_sink_were_visible_at_the_same_place() -> None:
    row = {"record": "a", "ordinal": 7}
    find(History.of(journal=[row, row | {"sink": "other"}, row | {"ordinal": 8}]), CLAIM)
    with pytest.raises(BadHistory, match=r"journal has 2 rows for .*7.*; expected 1"):
        find(History.of(journal=[row, row | {"record": "b"}]), CLAIM)


def test_an_aggregate_of_a_sink_has_one_operation() -> None:
    rows = [
        {"record": "a", "aggregate": "balance", "operation": "sum"},
        {"record": "b", "aggregate": "balance", "operation": "count"},
    ]
    with pytest.raises(BadHistory, match=r"'balance' of sink .* has operations count and sum"):
        find(History.of(contributions=rows), CLAIM)
    rows[1]["aggregate"] = "number"
    find(History.of(contributions=rows), CLAIM)


@pytest.mark.parametrize("table", ["effects", "expected", "journal"])
def test_no_effect_is_called_what_dead_letters_are_counted_as(table: str) -> None:
    row = {"record": "a", "effect_key": "~dead-letter"}
    with pytest.raises(BadHistory, match=f"{table}, column effect_key.*~dead-letter"):
        find(History.of(**{table: [row]}), CLAIM)
    find(History.of(**{table: [row | {"effect_key": "dead-letter"}]}), CLAIM)


def test_what_does_not_fit_is_refused_in_files_as_well(tmp_path: Path) -> None:
    twice = pa.concat_tables([_table(), _table()])
    for name, table in (("twice", twice), ("words", _table(outcome=pa.array(["OK"])))):
        (tmp_path / name).mkdir()
        pq.write_table(table, tmp_path / name / "sends.parquet")
        with pytest.raises(BadHistory, match=rf"/{name}: sends\.parquet"):
            find(History.load(tmp_path / name), CLAIM)


def test_a_table_that_was_changed_is_still_named_by_its_history(tmp_path: Path) -> None:
    History.of(sends=[{"record": "a"}]).save(tmp_path)
    changed = History.load(tmp_path).replace("sends", pa.concat_tables([_table(), _table()]))
    with pytest.raises(BadHistory, match=f"^{tmp_path}: table sends has 2 rows"):
        find(changed, CLAIM)


def test_a_uri_is_no_path(tmp_path: Path) -> None:
    with pytest.raises(BadHistory, match=r"expected a local path.*open_folder"):
        History.load("s3a://bucket/run/history")


def test_columns_that_may_hold_null_may_be_left_out(tmp_path: Path) -> None:
    table = _table().drop_columns(["error", "returned_at"])
    assert History({"sends": table})["sends"].schema.equals(TABLES["sends"].schema)
    pq.write_table(table, tmp_path / "sends.parquet")
    loaded = History.load(tmp_path)
    assert loaded["sends"]["error"].null_count == 1
    assert [f.anomaly for f in find(loaded, CLAIM)] == []


def test_other_text_types_and_columns_are_taken() -> None:
    table = _table(
        record=pa.array(["a"], pa.large_string()),
        topic=pa.array(["input"]).dictionary_encode(),
        key=pa.nulls(1),
    ).append_column("more", pa.array([1]))
    assert History({"sends": table})["sends"].schema.equals(TABLES["sends"].schema)


def test_files_that_are_not_there_or_damaged(tmp_path: Path) -> None:
    with pytest.raises(BadHistory, match="no such folder"):
        History.load(tmp_path / "nowhere")
    (tmp_path / "log.parquet").write_text("no")
    with pytest.raises(BadHistory, match="expected a Parquet file"):
        History.load(tmp_path)
    pq.write_table(pa.table({"topic": ["a"]}), tmp_path / "log.parquet")
    with pytest.raises(BadHistory, match="has no column partition"):
        History.load(tmp_path)


def test_names_that_there_are_not() -> None:
    with pytest.raises(BadHistory, match="unknown table nothing"):
        History({"nothing": pa.table({})})
    with pytest.raises(BadHistory, match="unknown table nothing"):
        History.of(nothing=[])
    with pytest.raises(BadHistory, match="unknown column colour"):
        History.of(log=[{"colour": 1}])
    with pytest.raises(BadHistory, match="a row does not fit"):
        History.of(log=[{"offset": "seven"}])
