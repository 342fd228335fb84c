"""Histories in JSON Lines are read, or rejected with line and field."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from onceproof.checkers import History
from onceproof.checkers.imports import BadImport, format_of, read
from onceproof.checkers.imports import jsonl as module
from onceproof.checkers.tables import TABLES

SEND: dict[str, Any] = {
    "attempt": "a/1", "record": "a", "digest": "d", "ordinal": 0, "session": "s", "topic": "t",
    "outcome": "ok", "called_at": 1, "clock": "c",
}  # fmt: skip


def line(**fields: Any) -> str:
    """Return a line of `sends`; a field set to `...` is left out."""
    row = {"t": "sends", **SEND, **fields}
    return json.dumps({k: v for k, v in row.items() if v is not ...})


def write_lines(folder: Path, *lines: str | bytes) -> Path:
    path = folder / "history.jsonl"
    path.write_bytes(b"\n".join(x.encode() if isinstance(x, str) else x for x in lines) + b"\n")
    return path


def error_of(path: Path) -> BadImport | None:
    try:
        read(path)
    except BadImport as error:
        return error
    return None


def rejection(path: Path) -> BadImport:
    with pytest.raises(BadImport) as caught:
        read(path)
    assert len(str(caught.value)) < 1500
    return caught.value


def test_reads_all_tables_from_one_file(tmp_path: Path) -> None:
    path = write_lines(
        tmp_path,
        "\ufeff" + line(),
        "",
        '{"t": "hazards", "hazard": "h", "hop": "produce", "at": 5, "clock": "c", "detail": "é"}',
        line(attempt="a/2", partition=None, offset=2**62),
    )
    assert format_of(path) == "jsonl"
    history = read(path).history
    assert history["sends"]["attempt"].to_pylist() == ["a/1", "a/2"]
    assert history["sends"]["offset"].to_pylist() == [None, 2**62]
    assert history["hazards"]["detail"].to_pylist() == ["é"]
    assert "log" in history.missing


def test_reads_folder_with_one_file_per_table(tmp_path: Path) -> None:
    (tmp_path / "sends.jsonl").write_text(line(t=...) + "\n" + line(t=..., attempt="b"))
    (tmp_path / "log.jsonl").write_text("")
    assert format_of(tmp_path) == "jsonl"
    history = read(tmp_path).history
    assert history["sends"].num_rows == 2
    assert "log" not in history.missing


def test_round_trips_tables(tmp_path: Path) -> None:
    history = History.of(**{name: [{}, {}] for name in TABLES if name not in ("txns", "state")})
    with (tmp_path / "h.jsonl").open("w") as file:
        for name, table in history.items():
            for number, row in enumerate(table.to_pylist()):
                if "aggregate" in row or name == "contributions":
                    continue
                unique = {"attempt": f"a{number}", "instance": f"i{number}", "offset": number}
                renamed = row | {k: v for k, v in unique.items() if k in row}
                if name == "partitions":
                    renamed["partition"] = number
                file.write(json.dumps({"t": name, **renamed}) + "\n")
    found = read(tmp_path / "h.jsonl").history
    for name in ("sends", "reads", "effects", "phases", "faults"):
        assert found[name].num_rows == 2
        assert found[name].schema.equals(TABLES[name].schema)


def test_reads_long_files_in_chunks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_CHUNK_ROWS", 3)
    lines = [line(attempt=f"a/{n}", ordinal=n) for n in range(10)]
    assert read(write_lines(tmp_path, *lines)).history["sends"]["ordinal"].to_pylist() == [
        *range(10)
    ]
    lines[8] = line(attempt="a/8", ordinal="8")
    assert rejection(write_lines(tmp_path, *lines)).line == 9


@pytest.mark.parametrize(
    ("bad_line", "field", "message"),
    [
        (line(ordinal="7"), "ordinal", "an integer from -2^63 to 2^63-1, found '7'"),
        (line(ordinal=7.0), "ordinal", "an integer from -2^63 to 2^63-1, found 7.0"),
        (line(ordinal=True), "ordinal", "found true"),
        (line(ordinal=2**63), "ordinal", f"an integer from -2^63 to 2^63-1, found {2**63}"),
        (line(partition=2**31), "partition", "an integer from -2^31 to 2^31-1 or null, found 2147"),
        (line(record=7), "record", "a string, found 7"),
        (line(record=None), "record", "a string in every row, found null"),
        (line(record=...), "record", "a string in every row, found no such field"),
        (line(record="\ud800"), "record", "valid Unicode"),
        (line(record=["a"]), "record", "a string, found an array"),
        (line(record={}), "record", "a string, found an object"),
        (line(outcome="OK"), "outcome", "one of fail, info, ok, found 'OK'. Did you mean ok?"),
        (line(outcome=...), "outcome", "one of fail, info, ok in every row, found no such field"),
        (line(ofset=7), "'ofset'", "unknown name. Did you mean offset? The columns are attempt, "),
        (line(**{"": 1}), "''", "expected a column of table sends"),
        (line(t=...), "t", "expected the name of a table, found no such field. The tables are"),
        (line(t="send"), "t", "found 'send'. Did you mean sends? The tables are sends, txns"),
        (line(t=7), "t", "expected the name of a table, found 7"),
        (line().replace('"d"', "NaN"), None, "a number or null, found NaN"),
        (line().replace('"d"', "-Infinity"), None, "a number or null, found -Infinity"),
        (line().replace('"d"', "9" * 5000), None, "numbers with fewer digits"),
        (line().replace('"d"', "[" * 100_000), None, "nested too deeply"),
        (line().replace('"digest"', '"topic"'), None, "each field once, found 'topic' twice"),
        (line().replace('"ok"', "'ok'"), None, "expected JSON, found"),
        (line()[:-10], None, "the rest of an object, found the end of the line"),
        (line() + line(), None, "expected JSON, found"),
        ("[1]", None, "expected a JSON object, found an array"),
        ("7", None, "expected a JSON object, found 7"),
        (line().encode()[:40] + b"\xff", None, "expected UTF-8, found byte 0xff"),
    ],
)  # fmt: skip
def test_rejects_malformed_line(
    tmp_path: Path, bad_line: str | bytes, field: str | None, message: str
) -> None:
    error = rejection(write_lines(tmp_path, line(), bad_line, line(attempt="b")))
    assert (error.line, error.field) == (2, field)
    assert message in str(error)


def test_rejects_two_rows_for_one_attempt(tmp_path: Path) -> None:
    error = rejection(write_lines(tmp_path, line(), line(attempt="b"), "", line(attempt="b")))
    assert (error.line, error.field) == (4, "attempt")
    assert "expected one row for attempt 'b', found another in line 2" in str(error)


def test_rejects_file_named_after_no_table(tmp_path: Path) -> None:
    (tmp_path / "effect.jsonl").write_text("")
    assert "found 'effect'. Did you mean effects?" in str(rejection(tmp_path))


def test_rejects_missing_file(tmp_path: Path) -> None:
    with pytest.raises(BadImport, match="there is no such file"):
        read(tmp_path / "history.jsonl")
    with pytest.raises(BadImport, match=r"history.jsonl: cannot read the file"):
        read(tmp_path / "history.jsonl", "jsonl")


_fields = st.sampled_from([*SEND, "t", "key", "txn", "partition", "offset", "other"])
_anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
    | st.sampled_from(["ok", "info", "sends", "log"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=4,
)  # fmt: skip


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.dictionaries(_fields, _anything, max_size=3), max_size=4))
def test_arbitrary_objects_are_read_or_rejected(
    tmp_path: Path, changes: list[dict[str, Any]]
) -> None:
    rows = [{"t": "sends", **SEND, "attempt": str(n), **c} for n, c in enumerate(changes)]
    path = write_lines(tmp_path, *(json.dumps(row) for row in rows))
    error = error_of(path)
    if error is None:
        for name, table in read(path).history.items():
            assert table.schema.equals(TABLES[name].schema)
    else:
        assert error.line is not None
        assert 1 <= error.line <= len(rows)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=60), st.integers(0, 300), st.integers(0, 10))
def test_arbitrary_bytes_are_read_or_rejected(
    tmp_path: Path, noise: bytes, at: int, cut: int
) -> None:
    good = (line() + "\n" + line(attempt="b")).encode()
    path = tmp_path / "h.jsonl"
    path.write_bytes(good[:at] + noise + good[at + cut :])
    error = error_of(path)
    assert error is None or error.line is not None
