"""What a trial came to, and that a measurement goes on where it ended."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from onceproof.harness.processes.side_by_side import Ended, Job
from tests.power.catalogue import Pair
from tests.power.kept import Kept
from tests.power.page import page, summary
from tests.power.results import Results
from tests.power.trial import NO_FAULT, NONE, WELL, Result, Trial, result

PAIR = Pair(
    name="no-rewind",
    sentence="It does not go back.",
    form="Python",
    claim="exactly-once",
    outputs=("copied",),
    arguments=("{bootstrap}",),
    caught_by="an abort",
    anomalies=("lost-output",),
)
BROKEN = Trial(pair=PAIR, variant="broken", seed=1, preset="standard")
MENDED = Trial(pair=PAIR, variant="mended", seed=1, preset="standard")
FAULTS = [
    {"fault": "killed 1", "injected_at": 10.0},
    {"fault": "cut 1", "injected_at": 20.0},
    {"fault": "never came", "injected_at": None},
]
CAUSES = [
    {"hazard": "aborted-transaction", "fault": "transaction aborted"},
    {"hazard": "aborted-transaction", "fault": "transaction aborted"},
    {"hazard": "resumed", "fault": "killed"},
]
REPORT = {
    "claims": [
        {"verdict": "holds", "reason": "nothing was found"},
        {"verdict": "violated", "reason": "Found lost-output (2)"},
    ],
    "faults": FAULTS,
    "findings": [
        {"anomaly": "lost-output", "refutes": ["it"], "count": 2, "shown": []},
        {"anomaly": "late", "refutes": [], "count": 9, "shown": [{"causes": CAUSES, "at": 1.0}]},
    ],
}


def shown(*findings: dict[str, Any]) -> dict[str, Any]:
    """The report, with these findings of what refutes a claim."""
    first, second = REPORT["findings"]
    return {**REPORT, "findings": [{**first, "shown": list(findings)}, second]}


def ended(folder: Path, said: str, *, code: int = 1, overdue: bool = False) -> Ended:
    log = folder / "log"
    log.write_text(said)
    job = Job(name="x", command=(), seconds=60)
    return Ended(job=job, code=code, seconds=12.0, overdue=overdue, log=log)


def came_to(verdict: str, **anomalies: int) -> Result:
    found = {name.replace("_", "-"): count for name, count in anomalies.items()}
    return Result(key=BROKEN.key, verdict=verdict, why="", anomalies=found, seconds=1)


def read(folder: Path, report: dict[str, Any]) -> Result:
    (folder / "report.json").write_text(json.dumps(report))
    return result(BROKEN, ended(folder, f"…\nreport   {folder}/report.html\n"))


@pytest.mark.parametrize(
    ("causes", "at", "blamed"),
    [
        (CAUSES, 25.0, {"transaction aborted", "killed"}),
        ([], 25.0, {"cut 1"}),
        ([], 20.0, {"cut 1"}),
        ([], 19.0, {"killed 1"}),
        ([], 9.0, {NO_FAULT}),
        ([], None, set()),
    ],
)
def test_the_fault_before_a_finding_stands_in_for_causes_that_nobody_knows(
    tmp_path: Path, causes: list[Any], at: float | None, blamed: set[str]
) -> None:
    assert set(read(tmp_path, shown({"causes": causes, "at": at})).caught_by) == blamed


def test_the_worst_claim_and_what_refutes_it_are_read(tmp_path: Path) -> None:
    found = read(tmp_path, REPORT)
    assert found.verdict == "violated"
    assert found.anomalies == {"lost-output": 2}
    assert found.caught_by == ()
    assert found.folder == str(tmp_path)
    assert found.right(BROKEN)
    assert not found.right(MENDED)


@pytest.mark.parametrize("overdue", [False, True])
def test_a_trial_without_a_report_is_right_for_nobody(tmp_path: Path, overdue: bool) -> None:
    found = result(BROKEN, ended(tmp_path, "it broke\n\n", code=3, overdue=overdue))
    assert found.verdict == NONE
    assert "it broke" in found.why
    assert not found.right(BROKEN)
    assert not found.right(MENDED)


def test_a_dry_run_is_right_when_it_ends_well(tmp_path: Path) -> None:
    trial = Trial(pair=PAIR, variant="broken", seed=1, preset="standard", dry_run=True)
    assert result(trial, ended(tmp_path, "well", code=0)).verdict == WELL
    assert not result(trial, ended(tmp_path, "not well", code=3)).right(trial)
    assert trial.key != BROKEN.key


def test_a_broken_one_must_be_caught_by_what_its_fault_makes() -> None:
    assert came_to("violated", lost_output=1).right(BROKEN)
    assert not came_to("violated", duplicate_output=1).right(BROKEN)
    assert not came_to("holds").right(BROKEN)
    assert not came_to("unexercised").right(MENDED)
    assert came_to("holds").right(MENDED)


class TestKept:
    def test_it_is_there_again(self, tmp_path: Path) -> None:
        Results(tmp_path / "results").add(came_to("violated", lost_output=1))
        again = Results(tmp_path / "results")
        assert again.of(BROKEN) == came_to("violated", lost_output=1)
        assert again.of(MENDED) is None

    def test_other_code_makes_it_anew(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        Results(tmp_path / "results").add(came_to("holds"))
        monkeypatch.setattr("tests.power.trial.code", lambda: "other")
        assert Results(tmp_path / "results").of(BROKEN) is None

    def test_a_line_that_was_cut_short_is_left_out(self, tmp_path: Path) -> None:
        Results(tmp_path / "results").add(came_to("holds"))
        with (tmp_path / "results").open("a") as lines:
            lines.write('{"key": ["no-')
        assert Results(tmp_path / "results").of(BROKEN) is not None


class TestKeptBesideThePage:
    def test_the_newest_result_of_each_trial_is_kept_without_its_folder(
        self, tmp_path: Path
    ) -> None:
        first, second = came_to("holds"), came_to("violated", lost_output=1)
        Kept(tmp_path / "kept").add([replace(first, folder="/somewhere"), second])
        Kept(tmp_path / "kept").add([])
        assert Kept(tmp_path / "kept").told([PAIR]) == [(BROKEN, second)]
        assert "somewhere" not in (tmp_path / "kept").read_text()

    def test_a_result_of_another_code_counts_and_of_another_program_does_not(
        self, tmp_path: Path
    ) -> None:
        *what, digest, _ = BROKEN.key
        kept = Kept(tmp_path / "kept")
        kept.add([replace(came_to("holds"), key=(*what, digest, "older"))])
        assert len(kept.told([PAIR])) == 1
        kept.add([replace(came_to("holds"), key=(*what, "other", "older"))])
        assert not kept.told([PAIR])


def test_the_page_says_who_was_caught_and_what_is_wrong() -> None:
    told = [(BROKEN, came_to("violated", lost_output=2)), (MENDED, came_to("unexercised"))]
    assert summary(told) == (
        "as they deserve: 1 of 1 trial of broken ones, 0 of 1 trial of mended ones"
    )
    made = page(told, {"go-one": "go is not on this machine"}, 60)
    assert "✓ violated lost-output (2) (standard, seed 1)" in made
    assert "✗ unexercised (standard, seed 1)" in made
    assert "* `no-rewind-mended-1`: unexercised" in made
    assert "1 of 60 small pipelines" in made
    assert "* Left out: go-one: go is not on this machine." in made
