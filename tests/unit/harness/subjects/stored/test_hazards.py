"""Consumers that write to a database: hazards, expected effects and faults on commits."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from onceproof.harness.faults.by_hand import asked
from onceproof.harness.faults.database.cut_at_commit import CutAtCommit, _cut
from onceproof.harness.faults.database.held_commit import storing
from onceproof.harness.faults.words import UnknownFault
from onceproof.harness.history.tables import read_lines
from onceproof.harness.kafka.group_offsets import Commit
from onceproof.harness.links.topology import Link
from onceproof.harness.processes.trouble import StageTrouble
from onceproof.harness.subjects.expected import write_expected
from onceproof.harness.subjects.stored.hazards import hazards
from onceproof.harness.subjects.stored.subject import StoringConsumers
from onceproof.harness.workload.payments import Payments
from tests.unit.fakes.pipelines import parts_in
from tests.unit.fakes.run_context import FakeContext, FakeSubject
from tests.unit.fakes.stage import FakeStage

LOG = [
    {"topic": "in", "partition": 0, "offset": n, "kind": "data", "record": r, "committed": True}
    for n, r in enumerate("abcdd")
]


def found(*records: str, end: int = 2, journal: Iterable[dict[str, str]] = ()) -> dict[str, str]:
    commit = Commit(topic="in", partition=0, offset=end, transactional=False)
    effects: list[dict[str, Any]] = [{"record": record} for record in records]
    return {
        h["hazard"]: h["detail"]
        for h in hazards(LOG, effects, journal, topic="in", commits=[commit])
    }


def test_undisturbed_run_has_no_hazards() -> None:
    assert found("a", "b") == {}
    assert found("a", end=1) == {}


def test_payment_with_two_rows_is_a_replayed_input() -> None:
    detail = "1 payments have, or had, more rows than expected"
    assert found("a", "b", "b") == {"replayed-input": detail}


def test_payment_sent_twice_may_have_two_rows() -> None:
    assert found("a", "b", "d", "d", end=5) | {"abandoned-input": ""} == {"abandoned-input": ""}
    assert "replayed-input" in found("a", "b", "d", "d", "d", end=5)


def test_payment_that_briefly_had_two_rows_is_a_replayed_input() -> None:
    changes = [
        {"record": record, "sink": sink, "operation": operation}
        for record, sink, operation in (
            ("a", "ledger-journal", "append"),
            ("a", "balances-journal", "append"),
            ("a", "ledger-journal", "delete"),
            ("b", "ledger-journal", "append"),
        )
    ]
    assert found("a", "b", journal=changes) == {}
    changes.append({"record": "b", "sink": "ledger-journal", "operation": "append"})
    assert found("a", "b", journal=changes).keys() == {"replayed-input"}


def test_committed_payment_without_row_is_abandoned() -> None:
    assert found("b") == {"abandoned-input": "1 payments below the committed offsets have no row"}


def test_expects_rows_in_the_ledger_and_sums_in_the_balances(tmp_path: Path) -> None:
    write_expected(tmp_path, StoringConsumers(), Payments(records=3), seed=1)
    tables = read_lines(tmp_path).tables
    sinks = [sink for sink in ("balances-journal", "ledger", "ledger-journal") for _ in range(3)]
    assert sorted(tables["expected"]["sink"].to_pylist()) == sinks
    assert set(tables["contributions"]["sink"].to_pylist()) == {"balances"}


def test_sqlite_expects_no_journal(tmp_path: Path) -> None:
    write_expected(tmp_path, StoringConsumers(kind="sqlite"), Payments(records=3), seed=1)
    tables = read_lines(tmp_path).tables
    assert tables["expected"]["sink"].to_pylist() == ["ledger"] * 3


def test_cleaning_requires_commits_after() -> None:
    name = StoringConsumers(commits="after", cleans=True).name
    assert name == "kafka-offsets-after-postgres-cleaned"
    with pytest.raises(ValueError, match="cleans=True requires commits='after'"):
        StoringConsumers(cleans=True)


def test_holding_commits_requires_a_storing_subject() -> None:
    context = FakeContext(subject=FakeSubject(name="nobody"))
    with pytest.raises(StageTrouble, match="nobody has no commits that a fault can hold"):
        storing(context)


def test_parses_the_fate_of_a_cut_commit() -> None:
    for word in ("lands", "undone"):
        assert asked("cut-at-commit", ["member-1", word]) == CutAtCommit(
            member="member-1", commit=word
        )
    with pytest.raises(UnknownFault, match="invalid fate 'lost': expected lands or undone"):
        asked("cut-at-commit", ["member-0", "lost"])


def test_missing_database_error_suggests_a_fix() -> None:
    stage = FakeStage(services=(), brokers=())
    with pytest.raises(StageTrouble, match="the stage has none: add `database"):
        StoringConsumers().pipeline(parts_in(Path("work"), stage=stage))


@pytest.mark.parametrize("links", [{}, {Link("pipeline", "postgres"): 0}])
def test_cut_requires_an_open_connection(links: dict[Link, int]) -> None:
    context = FakeContext(stage=FakeStage(open=links))
    with pytest.raises(StageTrouble, match="somebody has no database connection on pipeline"):
        _cut(context)
