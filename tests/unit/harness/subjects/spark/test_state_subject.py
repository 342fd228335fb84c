"""PySpark subjects with state: contributions of payments, and states read from the sink."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from onceproof.harness.history.tables import read_lines
from onceproof.harness.processes.trouble import StageTrouble
from onceproof.harness.sinks.base import SinkWithBatches
from onceproof.harness.sinks.matches import Matches
from onceproof.harness.sinks.statements import Statements
from onceproof.harness.sinks.windows import Windows, window_key
from onceproof.harness.subjects.expected import write_expected
from onceproof.harness.subjects.spark.deduplicated import SparkDeduplicated
from onceproof.harness.subjects.spark.matches import SparkMatches
from onceproof.harness.subjects.spark.statements import SparkStatements
from onceproof.harness.subjects.spark.subject import JobPlace
from onceproof.harness.subjects.spark.windows import SparkWindows
from onceproof.harness.workload.contributions import Contribution
from onceproof.harness.workload.payments import CLOSING_MS, Payment, Payments, payments_of

TIMED = Payments(
    records=400, producers=1, keys=3, partitions=1, event_step_ms=1_000, disorder_ms=30_000
)
UPDATED = SparkWindows(mode="update", guard="none")


def payment(event_ms: int | None) -> Payment:
    return Payment(record="p", account="a", amount_cents=70, note="", event_ms=event_ms)


def place(folder: Path, database: str = "host=here") -> JobPlace:
    return JobPlace(
        source_bootstrap="b:1", sink_bootstrap="b:2", database=database, topic="payments",
        checkpoint=folder / "checkpoint", progress=folder / "progress", work=folder,
    )  # fmt: skip


# Windows.


@pytest.mark.parametrize(
    ("event_ms", "start"),
    [(0, 0), (59_999, 0), (60_000, 60), (1_767_225_599_999, 1_767_225_540)],
)
def test_windows_start_at_full_minutes(event_ms: int, start: int) -> None:
    assert window_key("a", event_ms) == f"a@{start}"


def test_payment_contributes_sum_and_count_to_its_window() -> None:
    assert list(SparkWindows().contributions(payment(61_000))) == [
        Contribution(
            sink="windows", state_key="a@60", aggregate="total", operation="sum", amount=70
        ),
        Contribution(sink="windows", state_key="a@60", aggregate="payments", operation="count"),
    ]


def test_open_window_is_expected_in_update_mode_only() -> None:
    closing = payment(CLOSING_MS)
    assert list(SparkWindows().contributions(closing)) == []
    assert len(list(UPDATED.contributions(closing))) == 2


def test_payment_without_event_time_is_refused() -> None:
    with pytest.raises(ValueError, match="no event time, which spark-windows-append requires"):
        list(SparkWindows().contributions(payment(None)))


def test_expected_windows_add_up_to_the_workload(tmp_path: Path) -> None:
    write_expected(tmp_path, UPDATED, TIMED, seed=9)
    tables = read_lines(tmp_path).tables
    assert tables["expected"].num_rows == 0
    found: Counter[str] = Counter()
    counts: Counter[str] = Counter()
    for row in tables["contributions"].to_pylist():
        if row["operation"] == "sum":
            found[row["state_key"]] += row["amount"]
        else:
            counts[row["state_key"]] += 1
    sums: Counter[str] = Counter()
    for each in payments_of(TIMED, producer=0, seed=9):
        assert each.event_ms is not None
        sums[window_key(each.account, each.event_ms)] += each.amount_cents
    assert found == sums
    assert sum(counts.values()) == 400
    # Several windows per account, so that they could be mixed up.
    assert 3 * 6 <= len(found) <= 3 * 10


def test_twins_are_named_by_what_they_lack() -> None:
    twins = [
        SparkWindows(guard="none"),
        SparkWindows(watermark_ms=5_000),
        SparkWindows(mode="add", guard="none"),
    ]
    assert [s.name for s in (SparkWindows(), UPDATED, *twins)] == [
        "spark-windows-append",
        "spark-windows-update",
        "spark-windows-append-unguarded",
        "spark-windows-append-hasty",
        "spark-windows-add",
    ]
    assert all("the broken twin" in s.says for s in twins)
    assert all("every payment counts exactly once" in s.says for s in (SparkWindows(), UPDATED))


def test_windows_table_yields_a_state_per_window_and_aggregate() -> None:
    class Table(Windows):
        def rows(self, query: str) -> list[tuple[Any, ...]]:
            assert "sum(total)" in query
            return [(60, "a", 140, 2), (120, "b", 9, 1)]

    sink = Table("", sink="windows")
    assert isinstance(sink, SinkWithBatches)
    assert sink.effects() == []
    assert {(s.state_key, s.aggregate): s.amount for s in sink.states()} == {
        ("a@60", "total"): 140,
        ("a@60", "payments"): 2,
        ("b@120", "total"): 9,
        ("b@120", "payments"): 1,
    }
    assert {s.view for s in sink.states()} == {SparkWindows().view}
    assert {s.sink for s in sink.states()} == {SparkWindows().sink}


def test_windows_job_gets_its_options(tmp_path: Path) -> None:
    command = SparkWindows(watermark_ms=5_000).command(place(tmp_path))
    assert Path(command[0]).exists()
    options = dict(zip(command[1::2], command[2::2], strict=True))
    assert options["--watermark"] == "5000 milliseconds"
    assert options["--mode"] == "append"
    assert options["--guard"] == "query-and-batch-id"
    assert options["--provider"].endswith("RocksDBStateStoreProvider")


def test_windows_require_a_database(tmp_path: Path) -> None:
    with pytest.raises(StageTrouble, match="spark-windows-append writes to PostgreSQL"):
        SparkWindows().command(place(tmp_path, database=""))


# Statements.


def test_statements_expect_a_row_and_contributions_per_payment(tmp_path: Path) -> None:
    workload = Payments(records=30, keys=3)
    write_expected(tmp_path, SparkStatements(), workload, seed=4)
    tables = read_lines(tmp_path).tables
    assert {row["sink"] for row in tables["expected"].to_pylist()} == {"ledger"}
    assert tables["expected"].num_rows == 30
    rows = tables["contributions"].to_pylist()
    assert {(r["sink"], r["aggregate"], r["operation"]) for r in rows} == {
        ("balances", "balance", "sum"),
        ("balances", "payments", "count"),
    }
    assert len(rows) == 60


def test_newest_row_of_an_account_is_its_state() -> None:
    class Table(Statements):
        def rows(self, query: str) -> list[tuple[Any, ...]]:
            assert "DISTINCT ON (account)" in query
            return [("a", 140, 2), ("b", 9, 1)]

    sink = Table("", topic="payments", sink="ledger", view="table")
    assert not isinstance(sink, SinkWithBatches), "its rows tell of each record"
    assert {(s.sink, s.view, s.state_key, s.aggregate, s.amount) for s in sink.states()} == {
        ("balances", "table", "a", "balance", 140),
        ("balances", "table", "a", "payments", 2),
        ("balances", "table", "b", "balance", 9),
        ("balances", "table", "b", "payments", 1),
    }


def test_only_the_twin_gets_a_store_folder(tmp_path: Path) -> None:
    twin = SparkStatements(store="home-made")
    assert twin.name == "spark-transform-with-state-home-made"
    command = twin.command(place(tmp_path))
    assert command[-2:] == ["--store", str(tmp_path / "balances")]
    assert "--store" not in SparkStatements().command(place(tmp_path))
    assert Path(command[0]).exists()


# Matches and deduplication.

REFUNDED = Payments(
    records=40, producers=1, partitions=1, event_step_ms=1_000, other_topic="refunds", refunds=True
)


def test_each_payment_is_matched_with_its_refund(tmp_path: Path) -> None:
    write_expected(tmp_path, SparkMatches(), REFUNDED, seed=4)
    rows = read_lines(tmp_path).tables["expected"].to_pylist()
    sent = list(payments_of(REFUNDED, producer=0, seed=4))
    assert {row["record"] for row in rows} == {p.record for p in sent[::2]}
    assert len(rows) == 20
    table = [
        (7, p.record, p.account, p.amount_cents, r.record, r.amount_cents, "q", 3)
        for p, r in zip(sent[::2], sent[1::2], strict=True)
    ]

    class Table(Matches):
        def rows(self, query: str) -> list[tuple[Any, ...]]:
            assert "FROM matches" in query
            return table

    found = Table("", sink="matches").effects()
    # Rows of the job have the expected digests.
    assert {(e.record, e.digest) for e in found} == {(r["record"], r["digest"]) for r in rows}
    assert {(e.sink, e.view, e.batch, e.owner) for e in found} == {("matches", "table", 3, "q")}


def test_repeated_payment_is_expected_once(tmp_path: Path) -> None:
    workload = Payments(records=60, producers=1, repeats=50)
    write_expected(tmp_path, SparkDeduplicated(), workload, seed=4)
    rows = read_lines(tmp_path).tables["expected"].to_pylist()
    sent = [p.record for p in payments_of(workload, producer=0, seed=4)]
    assert len(set(sent)) < 45
    assert sorted(row["record"] for row in rows) == sorted(set(sent))


@pytest.mark.parametrize(
    ("subject", "name", "option"),
    [
        (SparkMatches(), "spark-join", ("--guard", "query-and-batch-id")),
        (SparkMatches(guard="none"), "spark-join-unguarded", ("--guard", "none")),
        (
            SparkMatches(watermark_ms=5_000),
            "spark-join-hasty",
            ("--watermark", "5000 milliseconds"),
        ),
        (SparkDeduplicated(), "spark-deduplicated", ("--within", "watermark")),
        (SparkDeduplicated(within="batch"), "spark-deduplicated-in-batch", ("--within", "batch")),
    ],
)
def test_variants_have_names_and_options(
    tmp_path: Path, subject: SparkMatches | SparkDeduplicated, name: str, option: tuple[str, str]
) -> None:
    assert subject.name == name
    command = subject.command(place(tmp_path))
    assert Path(command[0]).exists()
    assert option in zip(command[1::2], command[2::2], strict=True)
    assert ("the broken twin" in subject.says) is (name not in {"spark-join", "spark-deduplicated"})
