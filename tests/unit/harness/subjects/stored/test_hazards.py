"""What puts consumers with a database to the test, read off what they left."""

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


def test_nothing_happened() -> None:
    assert found("a", "b") == {}
    assert found("a", end=1) == {}


def test_a_payment_with_two_rows_was_written_again() -> None:
    detail = "1 payments have, or had, more rows than expected"
    assert found("a", "b", "b") == {"replayed-input": detail}


def test_what_was_sent_twice_has_two_rows() -> None:
    assert found("a", "b", "d", "d", end=5) | {"abandoned-input": ""} == {"abandoned-input": ""}
    assert "replayed-input" in found("a", "b", "d", "d", "d", end=5)


def test_a_payment_that_had_two_rows_for_a_while_was_written_again() -> None:
    seen = [
        {"record": record, "sink": sink, "operation": operation}
        for record, sink, operation in (
            ("a", "ledger-journal", "append"),
            ("a", "balances-journal", "append"),
            ("a", "ledger-journal", "delete"),
            ("b", "ledger-journal", "append"),
        )
    ]
    assert found("a", "b", journal=seen) == {}
    seen.append({"record": "b", "sink": "ledger-journal", "operation": "append"})
    assert found("a", "b", journal=seen).keys() == {"replayed-input"}


def test_an_offset_beyond_a_payment_without_a_row() -> None:
    assert found("b") == {"abandoned-input": "1 payments below the committed offsets have no row"}


def test_rows_are_expected_in_the_ledger_and_sums_in_the_balances(tmp_path: Path) -> None:
    write_expected(tmp_path, StoringConsumers(), Payments(records=3), seed=1)
    tables = read_lines(tmp_path).tables
    sinks = [sink for sink in ("balances-journal", "ledger", "ledger-journal") for _ in range(3)]
    assert sorted(tables["expected"]["sink"].to_pylist()) == sinks
    assert set(tables["contributions"]["sink"].to_pylist()) == {"balances"}


def test_a_file_keeps_no_journal_so_its_balances_show_no_payment(tmp_path: Path) -> None:
    write_expected(tmp_path, StoringConsumers(kind="sqlite"), Payments(records=3), seed=1)
    tables = read_lines(tmp_path).tables
    assert tables["expected"]["sink"].to_pylist() == ["ledger"] * 3


def test_only_who_writes_first_has_something_to_clean() -> None:
    name = StoringConsumers(commits="after", cleans=True).name
    assert name == "kafka-offsets-after-postgres-cleaned"
    with pytest.raises(ValueError, match="cleans=True requires commits='after'"):
        StoringConsumers(cleans=True)


def test_only_who_writes_into_a_database_has_commits_to_hold() -> None:
    context = FakeContext(subject=FakeSubject(name="nobody"))
    with pytest.raises(StageTrouble, match="nobody has no commits that a fault can hold"):
        storing(context)


def test_what_becomes_of_a_commit_as_it_is_written_by_hand() -> None:
    for word in ("lands", "undone"):
        assert asked("cut-at-commit", ["member-1", word]) == CutAtCommit(
            member="member-1", commit=word
        )
    with pytest.raises(UnknownFault, match="invalid fate 'lost': expected lands or undone"):
        asked("cut-at-commit", ["member-0", "lost"])


def test_without_a_database_it_says_what_to_do() -> None:
    stage = FakeStage(services=(), brokers=())
    with pytest.raises(StageTrouble, match="the stage has none: add `database"):
        StoringConsumers().pipeline(parts_in(Path("work"), stage=stage))


@pytest.mark.parametrize("links", [{}, {Link("pipeline", "postgres"): 0}])
def test_who_has_no_connection_cannot_be_cut_off(links: dict[Link, int]) -> None:
    context = FakeContext(stage=FakeStage(open=links))
    with pytest.raises(StageTrouble, match="somebody has no database connection on pipeline"):
        _cut(context)
