"""Jepsen histories converted to our tables, and malformed ones rejected."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from onceproof.checkers import BadHistory, check
from onceproof.checkers.imports import BadImport, format_of, read
from onceproof.checkers.imports.claims import all_claims
from onceproof.checkers.imports.jepsen_log import ReadRanges
from onceproof.checkers.imports.jepsen_readers import Session
from tests.unit.checkers.imports.generate import Cluster, write_history
from tests.unit.checkers.imports.histories import edn, imported


def rows(folder: Path, table: str, text: str, **options: Any) -> list[dict[str, Any]]:
    """Return the rows of a table without their nulls."""
    found = imported(folder, text, **options).history[table].to_pylist()
    return [{k: v for k, v in row.items() if v is not None} for row in found]


TEXT = """
0 invoke txn [[:send 5 1] [:poll] [:send 6 1]] | :time 1000
:nemesis info kill nil | :time 1001
0 ok txn [[:send 5 [0 1]] [:poll {6 [[7 9]]}] [:send 6 [nil 1]]] | :time 2000
1 invoke send [[:send 5 2]] | :time 3000
1 info send [[:send 5 2]] | :time 4000, :error [:timeout "so \\"long\\""]
2 invoke send [[:send 5 3]] | :time 5000
3 invoke crash nil | :time 6000
3 info crash nil | :time 6000
"""


class TestTables:
    def test_converts_sends(self, tmp_path: Path) -> None:
        first, second, doubt, pending = rows(tmp_path, "sends", TEXT)
        assert first == {
            "attempt": "5/1", "record": "5/1", "digest": "1", "ordinal": 0, "session": "0",
            "txn": "op 2", "topic": "jepsen", "partition": 5, "offset": 0, "outcome": "ok",
            "called_at": 1000, "returned_at": 2000, "clock": "jepsen",
        }  # fmt: skip
        assert "offset" not in second
        assert second["outcome"] == "ok"
        assert doubt["outcome"] == "info"
        assert doubt["error"] == """(:timeout, 'so "long"')"""
        assert pending["outcome"] == "info"
        assert "returned_at" not in pending

    def test_converts_transactions(self, tmp_path: Path) -> None:
        done, doubt, pending = rows(tmp_path, "txns", TEXT)
        assert done == {
            "txn": "op 2", "session": "0", "transactional_id": "0", "outcome": "committed",
            "began_at": 1000, "commit_called_at": 1001, "ended_at": 2000, "clock": "jepsen",
        }  # fmt: skip
        assert doubt["outcome"] == pending["outcome"] == "info"
        # A commit in doubt may have been called, and may still take effect.
        assert doubt["commit_called_at"] == 3001
        assert "ended_at" not in doubt
        assert rows(tmp_path, "txns", TEXT, transactions=False) == []

    def test_single_operations_are_not_transactions_by_default(self, tmp_path: Path) -> None:
        alone = "0 * send [[:send 5 1]]\n0 invoke poll [[:poll]]\n0 ok poll [[:poll {5 [[0 1]]}]]"
        alone = alone.replace("0 * send", "0 ok send")
        assert rows(tmp_path, "txns", alone) == []
        assert len(rows(tmp_path, "txns", alone, transactions=True)) == 2

    def test_converts_reads_and_log(self, tmp_path: Path) -> None:
        (read_,) = rows(tmp_path, "reads", TEXT, topic="t", isolation="read_uncommitted")
        assert read_ == {
            "reader": "0", "session": "0/1", "ordinal": 0, "isolation": "read_uncommitted",
            "topic": "t", "partition": 6, "offset": 7, "record": "6/9", "txn": "op 2", "at": 2000,
            "clock": "jepsen",
        }  # fmt: skip
        log = rows(tmp_path, "log", TEXT)
        assert {(r["partition"], r["offset"], r["record"], r["committed"]) for r in log} == {
            (5, 0, "5/1", True),
            (6, 7, "6/9", True),
        }

    def test_derives_hazards_and_phases(self, tmp_path: Path) -> None:
        doubt, pending = rows(tmp_path, "hazards", TEXT)
        assert doubt["hazard"] == pending["hazard"] == "transaction-in-doubt"
        assert doubt["attempt"] == "5/2"
        assert "line 5" in doubt["detail"]
        assert "not completed" in pending["detail"]
        outcomes = {r["phase"]: r["outcome"] for r in rows(tmp_path, "phases", TEXT)}
        assert outcomes == {
            "disturb": "ok", "settle": "ok", "final polls": "interrupted", "collect": "interrupted",
        }  # fmt: skip

    def test_derives_assignments(self, tmp_path: Path) -> None:
        text = """
        0 ok send [[:send 5 [0 1]]]
        0 ok send [[:send 5 [1 2]]]
        1 * assign [5 6] | :seek-to-beginning? true
        1 invoke poll [[:poll]]
        1 ok poll [[:poll {5 [[0 1]]}]]
        1 invoke poll [[:poll]]
        1 fail poll [[:poll {5 [[1 2]]}]]
        2 * assign [5]
        1 * assign [5]
        1 invoke poll [[:poll]]
        1 ok poll [[:poll {5 [[1 2]]}]]
        """
        found = {
            (r["session"], r["partition"]): (r["position"], "until_at" in r)
            for r in rows(tmp_path, "assignments", text)
        }
        # 5 is kept and read to its end; 6 is revoked; the failed poll begins at 5's position.
        assert found == {("1/1", 5): (0, False), ("1/1", 6): (0, True), ("1/3", 5): (1, True)}

    def test_notes_report_ignored_and_incomplete_operations(self, tmp_path: Path) -> None:
        notes = "\n".join(imported(tmp_path, TEXT).notes)
        assert "1 operations of the nemesis were ignored" in notes
        assert "1 operations were not completed" in notes
        assert "read as transactions, isolation read_committed" in notes

    def test_numbers_partitions_of_non_integer_keys(self, tmp_path: Path) -> None:
        text = """
        0 ok send [[:send :x/y [0 :a]]]
        0 ok send [[:send :z [0 :a]]]
        """
        result = imported(tmp_path, text)
        sends = result.history["sends"].to_pylist()
        assert [(s["record"], s["partition"]) for s in sends] == [("x%2Fy/a", 0), ("z/a", 1)]
        assert "jepsen-0 is key x%2Fy, jepsen-1 is key z" in "\n".join(result.notes)
        strings = imported(tmp_path, '0 ok send [[:send "56" [0 4]]]').history["sends"]
        assert strings["partition"].to_pylist() == [56]

    def test_accepts_large_process_numbers(self, tmp_path: Path) -> None:
        text = f"{10**30} invoke poll [[:poll]]\n{10**30} ok poll [[:poll {{5 [[0 1]]}}]]"
        assert [r["reader"] for r in rows(tmp_path, "reads", text)] == [str(10**30)]

    def test_equal_times_are_made_increasing(self, tmp_path: Path) -> None:
        text = "0 * assign [1] | :time 7\n0 ok send [[:send 1 [0 1]]] | :time 7"
        (sent,) = rows(tmp_path, "sends", text)
        assert sent["called_at"] > 7

    def test_repeated_value_gets_numbered_attempts(self, tmp_path: Path) -> None:
        text = "0 ok send [[:send 5 [0 1]]]\n0 ok send [[:send 5 [1 1]]]\n"
        text += "0 ok send [[:send 5 [2 1]]]"
        attempts = [r["attempt"] for r in rows(tmp_path, "sends", text)]
        assert attempts == ["5/1", "5/1#2", "5/1#3"]

    @pytest.mark.parametrize(
        ("first", "other", "names"),
        [
            ("1", '"1"', ["5/1", "5/1 (string)"]),
            (":a", '"a"', ["5/a", "5/a (string)"]),
            ('"1"', "1", ["5/1", "5/1 (number)"]),
            (":a", "1", ["5/a", "5/1 (number)"]),
        ],
    )
    def test_values_of_several_types_have_distinct_records(
        self, tmp_path: Path, first: str, other: str, names: list[str]
    ) -> None:
        text = f"0 ok send [[:send 5 [0 {first}]]]\n0 ok send [[:send 5 [1 {other}]]]\n"
        text += f"1 invoke poll [[:poll]]\n1 ok poll [[:poll {{5 [[0 {first}] [1 {other}]]}}]]"
        assert [r["record"] for r in rows(tmp_path, "sends", text)] == names
        assert [r["record"] for r in rows(tmp_path, "reads", text)] == names

    def test_keys_of_several_types_have_distinct_partitions(self, tmp_path: Path) -> None:
        text = '0 ok send [[:send 5 [0 1]]]\n0 ok send [[:send "5" [0 1]]]\n'
        sends = rows(tmp_path, "sends", text + "0 ok send [[:send :5 [0 1]]]")
        assert [s["record"] for s in sends] == ["5/1", "5 (string)/1", "5 (keyword)/1"]
        assert [s["partition"] for s in sends] == [0, 1, 2]

    def test_rejects_string_that_ends_with_a_type_suffix(self, tmp_path: Path) -> None:
        with pytest.raises(
            BadImport, match=r"does not end in \(number\) or \(string\) or \(keyword\)"
        ):
            imported(tmp_path, '0 ok send [[:send 5 [0 "1 (number)"]]]')

    def test_missing_invocation_starts_when_the_process_was_free(self, tmp_path: Path) -> None:
        text = "0 ok send [[:send 5 [0 1]]] | :time 10\n1 ok send [[:send 5 [1 2]]] | :time 20\n"
        sends = rows(tmp_path, "sends", text + "0 ok send [[:send 5 [2 3]]] | :time 30")
        assert [(s["called_at"], s["returned_at"]) for s in sends] == [(0, 10), (0, 20), (10, 30)]

    def test_failed_batch_send_with_an_offset_is_in_doubt(self, tmp_path: Path) -> None:
        alone = "0 invoke send [[:send 5 1]]\n0 fail send [[:send 5 [0 1]]]\n"
        assert [s["outcome"] for s in rows(tmp_path, "sends", alone)] == ["fail"]
        assert "in doubt" not in "\n".join(imported(tmp_path, alone).notes)
        several = """
        0 invoke send [[:send 5 1] [:send 5 2]]
        0 fail send [[:send 5 [0 1]] [:send 5 2]]
        """
        outcomes = [s["outcome"] for s in rows(tmp_path, "sends", several, transactions=False)]
        assert outcomes == ["info", "fail"]
        notes = "\n".join(imported(tmp_path, several, transactions=False).notes)
        assert "1 sends have an offset although their operation failed" in notes
        assert [s["outcome"] for s in rows(tmp_path, "sends", several)] == ["fail", "fail"]

    def test_log_keeps_every_record_polled_at_an_offset(self, tmp_path: Path) -> None:
        text = "".join(
            f"{p} invoke poll [[:poll]]\n{p} ok poll [[:poll {{5 [[0 {value}]]}}]]\n"
            for p, value in enumerate((1, 2, "nil", 1))
        )
        log = rows(tmp_path, "log", text + "9 ok send [[:send 5 [0 3]]]")
        assert [(r["offset"], r["record"]) for r in log] == [(0, "5/1"), (0, "5/2")]


def test_stretches_merge_overlapping_sessions() -> None:
    def session(first: int, reached: int, position: int | None = None) -> Session:
        made = Session(process=0, name="", key=5, began=0, position=position)
        made.first, made.reached = first, reached
        return made

    stretches = ReadRanges(
        [session(9, 12), session(3, 5), session(4, 7), session(1, 1), session(21, 22, 20)]
    )
    passed = [offset for offset in range(25) if stretches.passed(5, offset)]
    assert passed == [3, 4, 5, 6, 9, 10, 11, 20, 21]
    assert not stretches.passed(6, 4)


@pytest.mark.parametrize(
    ("text", "line", "field", "message"),
    [
        ("[1]", 1, "operation", "expected an operation such as"),
        ("{:type :ok :f :send}", 1, ":process", "found no such field"),
        ("{:process 1.5 :type :ok :f :send}", 1, ":process", "a number, or a keyword"),
        ("{:process 1 :f :send}", 1, ":type", "one of :invoke, :ok, :fail, :info, found no such"),
        ("{:process 1 :type :infos :f :send}", 1, ":type", "found :infos. Did you mean info?"),
        ("{:process 1 :type :ok :f :append}", 1, ":f", "one of :send, :poll, :txn, "),
        ("{:process 1 :type :ok :f :send :time 1.5}", 1, ":time", "nanoseconds from 0 to 2^63-1"),
        (f"{{:process 1 :type :ok :f :crash :time {2**63 - 1}}}", 1, ":time", "below 2^63"),
        ("{:process 1 :type :ok :f :send :value 7}", 1, ":value", "a vector of [:send …]"),
        ("\n{:process 1 :type :ok :f :send :value [7]}", 2, ":value", "[:send key value], [:poll]"),
        ("{:process 1 :type :ok :f :txn :value [[:append 5 1]]}", 1, ":value", "[:send key value]"),
        ("{:process 1 :type :ok :f :send :value [[:send 5]]}", 1, ":value", "[:send key value]"),
        ("{:process 1 :type :ok :f :send :value [[:send 5 [1 2 3]]]}", 1, ":value", "[offset val"),
        ("{:process 1 :type :ok :f :send :value [[:send 5 [:a 2]]]}", 1, ":value", "an offset"),
        ("{:process 1 :type :invoke :f :send :value [[:send 5 [1 2]]]}", 1, ":value", "a value"),
        ("{:process 1 :type :ok :f :send :value [[:send 5 nil]]}", 1, ":value", "a value that is"),
        ("{:process 1 :type :ok :f :send :value [[:send [5] 1]]}", 1, ":value", "a key that is a"),
        ("{:process 1 :type :ok :f :poll :value [[:poll [1]]]}", 1, ":value", "a map of keys"),
        ("{:process 1 :type :ok :f :poll :value [[:poll {5 7}]]}", 1, ":value", "a vector of [off"),
        ("{:process 1 :type :ok :f :poll :value [[:poll {5 [7]}]]}", 1, ":value", "[offset value]"),
        ("{:process 1 :type :ok :f :poll :value [[:poll {5 [[-1 7]]}]]}", 1, ":value", "from 0 to"),
        (
            f"{{:process 1 :type :ok :f :poll :value [[:poll {{5 [[{2**63} 7]]}}]]}}",
            1, ":value", "from 0 to 2^63-2",
        ),
        ("{:process 1 :type :ok :f :assign :value 5}", 1, ":value", "a vector of keys"),
        (
            "{:process 1 :type :invoke :f :crash}\n{:process 1 :type :invoke :f :crash}",
            2, ":type", "process 1 invoked in line 1, found another :invoke",
        ),
        (
            "{:process 1 :type :invoke :f :crash}\n{:process 1 :type :ok :f :assign}",
            2, ":f", "expected :crash, as invoked in line 1, found :assign",
        ),
        (
            "{:process 1 :type :invoke :f :send :value [[:send 5 1]]}\n"
            "{:process 1 :type :ok :f :send :value [[:send 5 [0 1]] [:send 5 [1 2]]]}",
            2, ":value", "the 1 :send in line 1, found 2",
        ),
        ("{:process 1\n:type", 2, None, "expected `}`"),
    ],
)  # fmt: skip
def test_rejects_malformed_operation(
    tmp_path: Path, text: str, line: int, field: str | None, message: str
) -> None:
    path = tmp_path / "history.edn"
    path.write_text(text)
    with pytest.raises(BadImport) as caught:
        read(path)
    assert (caught.value.line, caught.value.field) == (line, field)
    assert message in str(caught.value)
    assert str(caught.value).startswith(f"{path}, line {line}")
    assert len(caught.value.problem) < 400


@pytest.mark.parametrize("text", ["", "; nothing", "{:process :nemesis :type :info :f :kill}"])
def test_rejects_file_without_client_operations(tmp_path: Path, text: str) -> None:
    (tmp_path / "history.edn").write_text(text)
    with pytest.raises(BadImport, match="expected operations of Jepsen's Kafka workload"):
        read(tmp_path)


def test_reads_plain_wrapped_and_tagged_operations(tmp_path: Path) -> None:
    line = "{:process 1 :type :ok :f :send :value [[:send 5 [0 1]]]}"
    path = tmp_path / "h.edn"
    for text in (line, f"[{line}]", f"(\n{line}\n)", f"#jepsen.history.Op{line}"):
        path.write_text(text)
        assert format_of(path) == "jepsen"
        assert read(path).history["sends"].num_rows == 1


def test_rejects_missing_files_and_unknown_format(tmp_path: Path) -> None:
    with pytest.raises(BadImport, match="there is no such file"):
        read(tmp_path / "h.edn")
    with pytest.raises(BadImport, match="cannot read the file: No such file"):
        read(tmp_path / "h.edn", "jepsen")
    with pytest.raises(BadImport, match=r"expected a folder with \*.parquet or \*.jsonl"):
        read(tmp_path)
    with pytest.raises(
        BadImport, match="expected one of the formats jepsen, jsonl, parquet, found csv"
    ):
        read(tmp_path, "csv")


def test_generated_histories_hold(tmp_path: Path) -> None:
    for seed in range(3):
        write_history(tmp_path / "h.edn", 600, seed=seed)
        history = read(tmp_path / "h.edn").history
        judgement = check(history, all_claims(history))
        assert {judged.verdict.value for judged in judgement.claims} == {"holds"}, seed
        assert judgement.findings == ()


def error_of(path: Path) -> BadHistory | None:
    try:
        read(path)
    except BadHistory as error:
        return error
    return None


TINY = "".join(Cluster(seed=7, keys=2, clients=2).operations(60))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=200)
@given(st.data())
def test_mutated_file_is_read_or_rejected_with_path_and_line(
    tmp_path: Path, data: st.DataObject
) -> None:
    at = data.draw(st.integers(0, len(TINY)))
    cut = data.draw(st.integers(0, 30))
    inserted = data.draw(
        st.sampled_from(["", "nil", "[", "}", '"', ":ok ", ":fail", "[[:poll]]", "9" * 25, "\xff"])
        | st.sampled_from(edn("0 info txn [[:send 1 [0 7]]]").splitlines())
    )
    path = tmp_path / "h.edn"
    path.write_bytes((TINY[:at] + inserted + TINY[at + cut :]).encode("latin-1"))
    if error := error_of(path):
        assert str(path) in str(error)
        assert "line " in str(error)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=80))
def test_arbitrary_bytes_are_rejected(tmp_path: Path, noise: bytes) -> None:
    path = tmp_path / "h.edn"
    path.write_bytes(noise)
    with pytest.raises(BadImport):
        read(path)
