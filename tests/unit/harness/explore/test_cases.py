"""The cases of an exploration can be kept in a file, and tried again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from onceproof.commands.explore_repeat import repeat_cases
from onceproof.harness.explore.cases import BadCases, Case, cases_of, read_cases, write_cases
from onceproof.harness.explore.exploration import Exploration, Limits, Load
from onceproof.harness.explore.journal import JOURNAL, Journal, read
from onceproof.harness.explore.trials import parse_key
from tests.unit.harness.explore.test_exploration import LOAD, SINGLES, explored
from tests.unit.harness.explore.toy import Bug, ToyBench

FAULT = SINGLES[9]


def cases_with(folder: Path, *bugs: Bug) -> list[Case]:
    explored(folder, ToyBench(bugs=bugs), with_pairs=False)
    return cases_of(read(folder / JOURNAL))


def repeated(folder: Path, cases: list[Case], bench: ToyBench) -> int:
    journal = Journal(folder, {"subject": "toy"})
    exploration = Exploration(bench=bench, journal=journal, limits=Limits(), load=LOAD)
    try:
        return repeat_cases(exploration, cases)
    finally:
        journal.close()


@settings(max_examples=10, deadline=None)
@given(fault=st.sampled_from(SINGLES), records=st.integers(1, 3))
def test_cases_of_a_file_are_those_that_were_found(
    tmp_path_factory: pytest.TempPathFactory, fault: str, records: int
) -> None:
    folder = tmp_path_factory.mktemp("x")
    found = cases_with(folder, Bug((fault,), least=Load(transactions=1, records=records)))
    (case,) = found
    assert (case.faults, case.anomalies) == (parse_key(fault), {"bug 0"})
    assert (case.failed, case.tries) == (5, 5)
    file = folder / "cases.json"
    file.write_text(write_cases(found, {"subject": "toy", "command": ["x"]}))
    assert read_cases(file, "toy") == found
    assert "command" not in json.loads(file.read_text())


def test_exploration_without_violations_has_no_cases(tmp_path: Path) -> None:
    assert cases_with(tmp_path) == []


@pytest.mark.parametrize(
    ("bench", "code", "said"),
    [
        (ToyBench(bugs=[Bug((FAULT,))]), 1, "there    {}: 5 of 5 violated (bug 0); before 5 of 5"),
        (
            ToyBench(bugs=[Bug((FAULT,), name="other")]),
            1,
            "differs  {}: 5 of 5 violated (other); before 5 of 5",
        ),
        (ToyBench(), 0, "gone     {}: 5 of 5 hold; before 5 of 5"),
        (
            ToyBench(miss=lambda _, n: n == 1),
            5,
            "unknown  {}: 4 of 5 hold; the client ended without the message; before 5 of 5",
        ),
    ],
)
def test_repeated_case_is_there_or_gone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], bench: ToyBench, code: int, said: str
) -> None:
    cases = cases_with(tmp_path / "found", Bug((FAULT,)))
    assert repeated(tmp_path / "again", cases, bench) == code
    assert capsys.readouterr().out.splitlines() == [said.format(FAULT)]


def test_rare_case_is_tried_more_often(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rare = Case(
        faults=parse_key(FAULT), load=LOAD, anomalies=frozenset({"bug 0"}), failed=1, tries=5
    )
    assert repeated(tmp_path, [rare], ToyBench()) == 0
    assert "gone" in (out := capsys.readouterr().out)
    assert "14 of 14 hold; before 1 of 5" in out


def test_case_whose_message_does_not_come_is_unknown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (last,) = (s for s in SINGLES if s.startswith("request lost") and "Produce/work/last" in s)
    case = Case(
        faults=parse_key(last), load=Load(transactions=1, records=1), anomalies=frozenset({"x"}),
        failed=5, tries=5,
    )  # fmt: skip
    assert repeated(tmp_path, [case], ToyBench()) == 5
    assert "does not come with this load" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "is not a file of cases: JSONDecodeError"),
        ("[]", "is not a file of cases: TypeError"),
        ('{"subject": "toy", "cases": []}', "has no cases"),
        ('{"subject": "other", "cases": []}', "are about other, not toy"),
        ('{"subject": "toy", "cases": [{"faults": "burned @ x"}]}', "ValueError: invalid point"),
    ],
)
def test_bad_file_is_told(tmp_path: Path, text: str, why: str) -> None:
    file = tmp_path / "cases.json"
    file.write_text(text)
    with pytest.raises(BadCases, match=why):
        read_cases(file, "toy")


@pytest.mark.parametrize(("failed", "tries"), [(0, 5), (6, 5)])
def test_case_that_never_failed_is_refused(tmp_path: Path, failed: int, tries: int) -> None:
    row = {"faults": FAULT, "transactions": 1, "records": 1, "anomalies": ["x"]}
    file = tmp_path / "cases.json"
    file.write_text(
        json.dumps({"subject": "toy", "cases": [{**row, "failed": failed, "tries": tries}]})
    )
    with pytest.raises(BadCases, match="failed at least once"):
        read_cases(file, "toy")
