"""The catalogue of known bugs is valid, and its page tells its results."""

from __future__ import annotations

from pathlib import Path

import pytest

from onceproof.checkers.anomalies import anomalies
from onceproof.harness.explore.acts import acts_at
from onceproof.harness.explore.bench.subjects.every import SUBJECTS
from onceproof.harness.explore.points import Point
from onceproof.harness.tools.runtimes.known import asked, words
from tests.known_bugs.catalogue import Bug, UnknownBug, load
from tests.known_bugs.results import AFFECTED, FIXED, Result, keep, page, read

CATALOGUE = load()
PAGE = Path(__file__).parents[3] / "docs/reference/known-bugs.md"


def result(**more: object) -> Result:
    about = {"id": "KAFKA-1", "role": AFFECTED, "subject": "s", "versions": {"kafka": "3.9.2"}}
    return Result(**{**about, "seed": 1, "seconds": 2.0, **more})  # type: ignore[arg-type]


@pytest.mark.parametrize("bug", CATALOGUE.bugs, ids=lambda bug: bug.id)
def test_bug_can_be_hunted(bug: Bug) -> None:
    subjects = [SUBJECTS[name] for name in (bug.subject, bug.fixed_subject) if name]
    for versions in (bug.affected, bug.fixed or {}):
        assert asked(words(versions)[1::2]) == dict(versions)
        assert set(versions) <= {"kafka", *subjects[0].runtimes}
    assert bug.anomaly == "stalled" or bug.anomaly in anomalies()
    assert bug.faults
    assert bug.fixed != bug.affected


def test_catalogue_has_each_bug_once() -> None:
    ids = [each.id for each in (*CATALOGUE.bugs, *CATALOGUE.not_tried)]
    assert len(set(ids)) == len(ids)
    assert CATALOGUE.named([]) == CATALOGUE.bugs
    assert CATALOGUE.named(ids[:1]) == CATALOGUE.bugs[:1]
    with pytest.raises(UnknownBug, match="unknown bug KAFKA-0"):
        CATALOGUE.named(["KAFKA-0"])


def test_no_bug_names_a_single_fault() -> None:
    point = Point.parse("producer/request/EndTxn/commit/first/transaction-coordinator")
    names = [f"{act.name} @ {point.id}" for act in acts_at(point)]
    texts = [text for bug in CATALOGUE.bugs for text in bug.faults]
    assert not set(texts) & set(names)


@pytest.mark.parametrize(
    ("found", "right"),
    [
        (result(by="x", trials=1), True),
        (result(trials=9), False),
        (result(by="x", error="unsound"), False),
        (result(role=FIXED, trials=9), True),
        (result(role=FIXED, trials=0), False),
        (result(role=FIXED, by="x", trials=1), False),
    ],
)
def test_hunt_is_right_if_it_convicts_only_what_is_affected(found: Result, right: bool) -> None:
    assert found.right is right


def test_newer_results_replace_those_of_the_same_hunt(tmp_path: Path) -> None:
    file = tmp_path / "kept.jsonl"
    keep(file, [result(), result(seed=2)])
    kept = keep(file, [result(by="x")])
    assert kept == read(file) == [result(by="x"), result(seed=2)]
    assert read(tmp_path / "none.jsonl") == []


def test_page_tells_the_results_that_are_kept() -> None:
    told = PAGE.read_text(encoding="utf-8").splitlines()
    again = page(CATALOGUE, read(PAGE.with_suffix(".jsonl"))).splitlines()
    # The machine's description differs.
    assert [line for line in told if " on " not in line] == [
        line for line in again if " on " not in line
    ]
