"""Writing history lines, and reading them back as tables."""

from __future__ import annotations

import json
import os
import re
import tempfile
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onceproof.harness.clock import clock_id
from onceproof.harness.history import writer as writing
from onceproof.harness.history.tables import DamagedHistory, Recorded, read_lines
from onceproof.harness.history.writer import HistoryNotWritten, HistoryWriter


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def write(folder: Path, *rows: dict[str, Any], name: str = "w") -> Path:
    path = folder / f"{name}.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def called(attempt: str, **more: Any) -> dict[str, Any]:
    return {
        "t": "called",
        "attempt": attempt,
        "record": f"r-{attempt}",
        "key": "k",
        "digest": "d",
        "ordinal": 0,
        "session": "s",
        "topic": "payments",
        "called_at": 1,
        "clock": "c",
    } | more


def returned(attempt: str, outcome: str = "ok", **more: Any) -> dict[str, Any]:
    return {"t": "returned", "attempt": attempt, "outcome": outcome, "returned_at": 2} | more


def rows(recorded: Recorded, table: str) -> list[dict[str, Any]]:
    return recorded.tables[table].to_pylist()


# Writing.


def test_write_reaches_the_file_before_it_returns(tmp_path: Path) -> None:
    writer = HistoryWriter(tmp_path, "w")
    writer.write("phases", phase="«a»\n", n=None)
    _, line = lines(tmp_path / "w.jsonl")  # not closed yet
    assert line == {"t": "phases", "phase": "«a»\n", "n": None}


def test_write_all_writes_one_line_per_row(tmp_path: Path) -> None:
    writer = HistoryWriter(tmp_path, "w")
    writer.write_all("called", ({"attempt": n} for n in range(3)))
    assert [r.get("attempt") for r in lines(writer.path)] == [None, 0, 1, 2]


def test_clocks_are_written_first_and_every_ten_seconds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    moment = [5_000]
    monkeypatch.setattr(writing.time, "monotonic_ns", lambda: moment[0])
    writer = HistoryWriter(tmp_path, "w")
    for later in (0, 9_999_999_999, 1, 0):
        moment[0] += later
        writer.write("progress")
    kinds = [r["t"] for r in lines(writer.path)]
    assert kinds == ["clocks", "progress", "progress", "clocks", "progress", "progress"]
    first, second = rows(read_lines(tmp_path), "clocks")
    assert (first["writer"], first["clock"], first["monotonic_ns"]) == ("w", clock_id(), 5_000)
    assert second["monotonic_ns"] == 10_000_005_000


def test_reopened_writer_appends(tmp_path: Path) -> None:
    for n in range(2):
        writer = HistoryWriter(tmp_path, "w")
        writer.write("progress", n=n)
        writer.close()
    assert [r["n"] for r in lines(tmp_path / "w.jsonl") if "n" in r] == [0, 1]


class ShortWrites:
    """A file that writes only a few bytes per call."""

    def __init__(self, file: Any, size: int) -> None:
        self.file = file
        self.size = size

    def write(self, data: bytes) -> int:
        os.sched_yield()
        return int(self.file.write(data[: self.size]))

    def close(self) -> None:
        self.file.close()


def test_concurrent_writes_do_not_interleave(tmp_path: Path) -> None:
    writer = HistoryWriter(tmp_path, "w")
    writer._file = ShortWrites(writer._file, 50)  # type: ignore[assignment]

    def write_many(who: int) -> None:
        for n in range(20):
            writer.write_all("progress", [{"who": who, "n": n, "pad": "x" * 100}] * 3)

    threads = [threading.Thread(target=write_many, args=(who,)) for who in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = [(r["who"], r["n"]) for r in lines(writer.path) if r["t"] == "progress"]
    # Rows of one call are adjacent, and each thread's calls are in order.
    assert all(len(set(found[i : i + 3])) == 1 for i in range(0, 240, 3))
    for who in range(4):
        assert [n for w, n in found[::3] if w == who] == list(range(20))


def test_write_to_a_full_disk_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "w.jsonl").symlink_to("/dev/full")
    writer = HistoryWriter(tmp_path, "w")
    with pytest.raises(HistoryNotWritten, match=r"No space left on device.*w\.jsonl"):
        writer.write("progress")
    writer.close()


def test_nothing_is_written_after_a_failed_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = HistoryWriter(tmp_path, "w")
    writer.write("progress", n=1)

    def half(data: bytes) -> None:
        writer._file.write(data[: len(data) // 2])
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as disk:
        disk.setattr(writer, "_write_fully", half)
        with pytest.raises(HistoryNotWritten):
            writer.write("progress", n=2)
    with pytest.raises(HistoryNotWritten, match="No space left"):
        writer.write("progress", n=3)  # it would turn the torn line into damage
    writer.close()
    recorded = read_lines(tmp_path)
    assert recorded.cut_short == ("w.jsonl",)
    assert recorded.lines["progress"] == [{"n": 1}]


def test_short_writes_are_continued(tmp_path: Path) -> None:
    writer = HistoryWriter(tmp_path, "w")
    writer._file = ShortWrites(writer._file, 7)  # type: ignore[assignment]
    writer.write("progress", text="a longer line than seven bytes")
    writer.close()
    assert read_lines(tmp_path).lines["progress"] == [{"text": "a longer line than seven bytes"}]


# Calls and returns.


def test_call_and_return_become_one_row(tmp_path: Path) -> None:
    write(tmp_path, called("a", ordinal=7), returned("a", partition=1, offset=42))
    (send,) = rows(read_lines(tmp_path), "sends")
    assert send == {
        **{k: v for k, v in called("a", ordinal=7).items() if k != "t"},
        "txn": None,
        "partition": 1,
        "offset": 42,
        "outcome": "ok",
        "returned_at": 2,
        "error": None,
    }


def test_call_without_return_is_info(tmp_path: Path) -> None:
    write(tmp_path, called("a"), called("b"), returned("b", "fail", error="purged"))
    by_attempt = {r["attempt"]: r for r in rows(read_lines(tmp_path), "sends")}
    assert by_attempt["a"]["outcome"] == "info"
    assert by_attempt["a"]["returned_at"] is None
    assert (by_attempt["b"]["outcome"], by_attempt["b"]["error"]) == ("fail", "purged")


def test_call_and_return_may_be_in_different_files(tmp_path: Path) -> None:
    write(tmp_path, returned("a"), name="a")
    write(tmp_path, called("a"), name="b")
    (send,) = rows(read_lines(tmp_path), "sends")
    assert send["outcome"] == "ok"


def test_lines_of_table_sends_are_kept(tmp_path: Path) -> None:
    row = called("a", outcome="ok") | {"t": "sends"}
    write(tmp_path, row)
    assert [r["attempt"] for r in rows(read_lines(tmp_path), "sends")] == ["a"]


# Rows that are updated.

CHANGING = [
    (
        {"t": "phases", "phase": "p", "started_at": 1, "clock": "c"},
        {"ended_at": 2, "outcome": "ok"},
    ),
    (
        {
            "t": "faults",
            "fault": "p",
            "kind": "crash",
            "description": "d",
            "required": True,
            "took_effect": False,
            "clock": "c",
        },
        {"took_effect": True, "evidence": "seen"},
    ),
    (
        {"t": "instances", "subject": "s", "instance": "p", "started_at": 1, "clock": "c"},
        {"ended_at": 2, "how": "killed"},
    ),
    (
        {
            "t": "txns",
            "txn": "p",
            "session": "s",
            "transactional_id": "i",
            "outcome": "info",
            "began_at": 1,
            "clock": "c",
        },
        {"outcome": "committed", "commit_called_at": 2, "ended_at": 3},
    ),
]


@pytest.mark.parametrize(("row", "change"), CHANGING, ids=lambda value: value.get("t"))
def test_last_row_of_an_identity_wins(
    tmp_path: Path, row: dict[str, Any], change: dict[str, Any]
) -> None:
    identity = {"phases": "phase", "faults": "fault", "instances": "instance", "txns": "txn"}[
        row["t"]
    ]
    write(tmp_path, row, row | {identity: "q"}, row | change)
    first, second = rows(read_lines(tmp_path), row["t"])
    assert (first[identity], second[identity]) == ("p", "q")
    assert first == first | change
    unchanged = {name: row.get(name) for name in change}
    assert second == second | unchanged


def test_equal_hazard_rows_are_all_kept(tmp_path: Path) -> None:
    hazard = {"t": "hazards", "hazard": "h", "hop": "produce", "at": 1, "clock": "c", "detail": "d"}
    write(tmp_path, hazard, hazard)
    assert len(rows(read_lines(tmp_path), "hazards")) == 2


def test_lines_of_no_table_are_kept(tmp_path: Path) -> None:
    write(tmp_path, {"t": "progress", "progress": {"batchId": 3}})
    assert read_lines(tmp_path).lines["progress"] == [{"progress": {"batchId": 3}}]


def test_empty_folder_has_every_table_without_rows(tmp_path: Path) -> None:
    recorded = read_lines(tmp_path)
    assert {t.num_rows for t in recorded.tables.values()} == {0}
    assert {"sends", "log", "effects", "phases"} <= recorded.tables.keys()
    assert recorded.cut_short == ()


def test_empty_file_is_not_cut_short(tmp_path: Path) -> None:
    (tmp_path / "w.jsonl").touch()
    assert read_lines(tmp_path).cut_short == ()


# Damage.


def test_truncated_last_line_is_dropped_and_reported(tmp_path: Path) -> None:
    path = write(tmp_path, called("a"), called("b"))
    path.write_bytes(path.read_bytes()[:-20])
    write(tmp_path, called("c"), name="x")
    recorded = read_lines(tmp_path)
    assert recorded.cut_short == ("w.jsonl",)
    assert [r["attempt"] for r in rows(recorded, "sends")] == ["a", "c"]


@pytest.mark.parametrize(
    "damaged",
    [b'{"t": "called", "att', b"", b"\x00\x00\x00\x00", b"\xff\xfe", b"[1]", b'"t"', b"3", b"{}"],
)
@pytest.mark.parametrize("place", [1, 2, 3])
def test_damaged_line_is_refused_with_its_number(
    tmp_path: Path, damaged: bytes, place: int
) -> None:
    good = [json.dumps(called(a)).encode() for a in "ab"]
    good.insert(place - 1, damaged)
    path = tmp_path / "w.jsonl"
    path.write_bytes(b"\n".join(good) + b"\n")
    with pytest.raises(DamagedHistory, match="expected a JSON object with a field `t`") as error:
        read_lines(tmp_path)
    assert f"{path}, line {place}:" in str(error.value)
    assert repr(damaged[:80]) in str(error.value)


@pytest.mark.parametrize("kind", ["purchases", "", 5, None])
def test_unknown_kind_is_refused_with_the_known_ones(tmp_path: Path, kind: Any) -> None:
    path = write(tmp_path, called("a"), {"t": kind})
    with pytest.raises(DamagedHistory) as error:
        read_lines(tmp_path)
    assert f"{path}, line 2: unknown `t` {kind!r}, expected one of " in str(error.value)
    assert "called" in str(error.value)
    assert "phases" in str(error.value)


PHASE = {"t": "phases", "phase": "p", "started_at": 1, "clock": "c"}


@pytest.mark.parametrize(
    "wrong",
    [
        {"started_at": "noon"},
        {"started_at": True},
        {"started_at": {}},
        {"outcome": 5},
        {"phase": "p", "clock": ["c"]},
    ],
)
def test_wrong_type_is_refused_with_its_table(tmp_path: Path, wrong: dict[str, Any]) -> None:
    write(tmp_path, PHASE | wrong)
    with pytest.raises(DamagedHistory, match=r"^table phases: a row does not match the schema"):
        read_lines(tmp_path)


def test_missing_required_column_is_refused(tmp_path: Path) -> None:
    write(tmp_path, PHASE, {k: v for k, v in PHASE.items() if k != "clock"} | {"phase": "q"})
    with pytest.raises(DamagedHistory, match="table phases: column clock is missing in some row"):
        read_lines(tmp_path)


def test_return_without_outcome_is_refused(tmp_path: Path) -> None:
    row = returned("a")
    del row["outcome"]
    write(tmp_path, called("a"), row)
    with pytest.raises(DamagedHistory, match="table sends: column outcome is missing"):
        read_lines(tmp_path)


@pytest.mark.parametrize(
    "row",
    [
        pytest.param({"t": ["called"]}, id="t is a list"),
        pytest.param({"t": "called", "record": "r"}, id="a call without an attempt"),
        pytest.param({"t": "returned", "outcome": "ok"}, id="a return without an attempt"),
        pytest.param(returned("a") | {"attempt": []}, id="an attempt that is a list"),
        pytest.param({"t": "phases", "clock": "c"}, id="a phase without its name"),
        pytest.param(PHASE | {"started_at": 2**70}, id="a number beyond 64 bits"),
        pytest.param(PHASE | {"phase": "\ud800"}, id="a lone surrogate"),
    ],
)
def test_malformed_row_is_refused(tmp_path: Path, row: dict[str, Any]) -> None:
    write(tmp_path, called("a"), row)
    with pytest.raises(DamagedHistory):
        read_lines(tmp_path)


def test_fraction_in_an_integer_column_is_refused(tmp_path: Path) -> None:
    write(tmp_path, PHASE | {"started_at": 1.5})
    with pytest.raises(DamagedHistory, match="table phases"):
        read_lines(tmp_path)


# Truncation.


@st.composite
def line_sequences(draw: st.DrawFn) -> list[tuple[str, str, str]]:
    """(kind, attempt, outcome) of each line; a call precedes its return, if any."""
    outcomes = draw(st.lists(st.sampled_from(["ok", "fail", "info", "never"]), max_size=8))
    waiting = [(str(n), outcome) for n, outcome in enumerate(outcomes)]
    open_: list[tuple[str, str]] = []
    drawn: list[tuple[str, str, str]] = []
    while waiting or open_:
        if waiting and (not open_ or draw(st.booleans())):
            attempt, outcome = waiting.pop(0)
            drawn.append(("called", attempt, outcome))
            if outcome != "never":
                open_.append((attempt, outcome))
        else:
            attempt, outcome = open_.pop(draw(st.integers(0, len(open_) - 1)))
            drawn.append(("returned", attempt, outcome))
    return drawn


@given(line_sequences(), st.floats(0, 1))
def test_truncated_history_keeps_exactly_its_whole_lines(
    sequence: list[tuple[str, str, str]], fraction: float
) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        writer = HistoryWriter(folder, "w")
        ends = []  # of the lines, in bytes
        for kind, attempt, outcome in sequence:
            row = called(attempt) if kind == "called" else returned(attempt, outcome)
            writer.write(row.pop("t"), **row)
            ends.append(writer.path.stat().st_size)
        writer.close()
        data = writer.path.read_bytes()
        cut = round(fraction * len(data))
        writer.path.write_bytes(data[:cut])
        recorded = read_lines(folder)
        kept = [line for line, end in zip(sequence, ends, strict=True) if end <= cut]
        expected = {attempt: "info" for kind, attempt, _ in kept if kind == "called"}
        expected |= {attempt: outcome for kind, attempt, outcome in kept if kind == "returned"}
        found = {r["attempt"]: r["outcome"] for r in rows(recorded, "sends")}
        assert found == expected
        assert len(rows(recorded, "sends")) == len(expected)
        whole = cut == 0 or data[:cut].endswith(b"\n")
        assert recorded.cut_short == (() if whole else ("w.jsonl",))


def test_error_of_a_damaged_line_truncates_it(tmp_path: Path) -> None:
    (tmp_path / "w.jsonl").write_bytes(b"x" * 10_000 + b"\n{}\n")
    with pytest.raises(DamagedHistory) as error:
        read_lines(tmp_path)
    assert not re.search("x{100}", str(error.value))
