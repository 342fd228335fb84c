"""A journal keeps every trial that counts, and can be read after any interruption."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onceproof.harness.explore.exploration import Load
from onceproof.harness.explore.journal import (
    JOURNAL,
    BadJournal,
    Confirmed,
    Entry,
    Journal,
    Shrunk,
    merged,
    read,
)
from onceproof.harness.explore.points import passed_by
from onceproof.harness.explore.trials import Outcome, Signature
from tests.unit.harness.explore.toy import run_of

TRACE = passed_by(run_of(Load(transactions=1, records=2)))
OUTCOMES = st.builds(
    Outcome,
    missed=st.none() | st.text(),
    verdict=st.sampled_from(["holds", "violated", "stalled", "unknown"]),
    anomalies=st.frozensets(st.sampled_from(["duplicate", "lost-write"])),
    reason=st.text(),
    signature=st.builds(
        Signature,
        perceived=st.text(),
        after=st.lists(st.sampled_from(["Produce", "EndTxn"])).map(tuple),
        epochs=st.integers(0, 9),
        reconnected=st.booleans(),
    ),
    trace=st.sampled_from([(), TRACE]),
    hits=st.lists(st.integers(0, 9)).map(tuple),
)


@given(outcome=OUTCOMES)
def test_outcome_survives_a_json_round_trip(outcome: Outcome) -> None:
    assert Outcome.from_json(outcome.as_json()) == outcome


def filled(folder: Path, subject: str = "toy", shard: str = "1/1", key: str = "a") -> Path:
    journal = Journal(folder, {"subject": subject, "shard": shard})
    journal.quiet(TRACE)
    journal.trials([Entry(key=key, outcome=Outcome(trace=TRACE, hits=(1,)))])
    journal.unsound("a bad day")
    journal.confirmed(Confirmed(key=key, failed=3, tries=5))
    journal.shrunk(Shrunk(key=key, to=key, transactions=1, records=2))
    journal.close()
    return folder / JOURNAL


def test_everything_can_be_read_again(tmp_path: Path) -> None:
    known = read(filled(tmp_path))
    assert known.about == {"subject": "toy", "shard": "1/1"}
    assert known.quiet == [TRACE]
    assert known.trials == [Entry(key="a", outcome=Outcome(trace=TRACE, hits=(1,)))]
    assert known.unsound == ["a bad day"]
    assert known.confirmed == {"a": Confirmed(key="a", failed=3, tries=5)}
    assert known.shrunk == {"a": Shrunk(key="a", to="a", transactions=1, records=2)}


def test_journal_that_was_cut_anywhere_can_be_continued(tmp_path: Path) -> None:
    path = filled(tmp_path / "whole")
    data = path.read_bytes()
    for length in range(len(data)):
        folder = tmp_path / "cut"
        folder.mkdir(exist_ok=True)
        (folder / JOURNAL).write_bytes(data[:length])
        journal = Journal(folder, {"subject": "toy", "shard": "1/1"})
        journal.unsound("again")
        journal.close()
        assert read(folder / JOURNAL).unsound[-1] == "again"


def test_journal_about_something_else_is_refused(tmp_path: Path) -> None:
    filled(tmp_path)
    with pytest.raises(BadJournal, match=r"is about subject toy, .*, not subject other"):
        Journal(tmp_path, {"subject": "other", "shard": "1/1"})


@pytest.mark.parametrize("line", ["[]", "{}", "nonsense", '{"t": "trial"}', '{"t": "new"}'])
def test_damaged_line_is_named(tmp_path: Path, line: str) -> None:
    path = filled(tmp_path)
    path.write_text(line + "\n" + path.read_text())
    with pytest.raises(BadJournal, match=r"journal\.jsonl, line 1: "):
        read(path)


def test_shards_are_merged_and_no_trial_counts_twice(tmp_path: Path) -> None:
    parts = [
        read(filled(tmp_path / str(n), shard=f"{n}/3", key=key))
        for n, key in enumerate("aab", start=1)
    ]
    assert [entry.key for entry in merged(parts).trials] == ["a", "b"]


def test_different_explorations_are_not_merged(tmp_path: Path) -> None:
    parts = [read(filled(tmp_path / name, subject=name)) for name in ("one", "other")]
    with pytest.raises(BadJournal, match="cannot merge subject other with subject one"):
        merged(parts)
