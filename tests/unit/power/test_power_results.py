"""Results of trials, and their storage between measurements."""

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
    """`REPORT` with these findings of the anomaly that refutes a claim."""
    first, second = REPORT["findings"]
    return {**REPORT, "findings": [{**first, "shown": list(findings)}, second]}


def ended(folder: Path, output: str, *, code: int = 1, overdue: bool = False) -> Ended:
    log = folder / "log"
    log.write_text(output)
    job = Job(name="x", command=(), seconds=60)
    return Ended(job=job, code=code, seconds=12.0, overdue=overdue, log=log)


def result_of(verdict: str, **anomalies: int) -> Result:
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
def test_finding_without_causes_is_blamed_on_the_fault_before(
    tmp_path: Path, causes: list[Any], at: float | None, blamed: set[str]
) -> None:
    assert set(read(tmp_path, shown({"causes": causes, "at": at})).caught_by) == blamed


def test_result_has_the_worst_claim_and_its_anomalies(tmp_path: Path) -> None:
    found = read(tmp_path, REPORT)
    assert found.verdict == "violated"
    assert found.anomalies == {"lost-output": 2}
    assert found.caught_by == ()
    assert found.folder == str(tmp_path)
    assert found.right(BROKEN)
    assert not found.right(MENDED)


@pytest.mark.parametrize("overdue", [False, True])
def test_trial_without_report_is_never_right(tmp_path: Path, overdue: bool) -> None:
    found = result(BROKEN, ended(tmp_path, "it broke\n\n", code=3, overdue=overdue))
    assert found.verdict == NONE
    assert "it broke" in found.why
    assert not found.right(BROKEN)
    assert not found.right(MENDED)


def test_dry_run_is_right_if_it_exits_with_zero(tmp_path: Path) -> None:
    trial = Trial(pair=PAIR, variant="broken", seed=1, preset="standard", dry_run=True)
    assert result(trial, ended(tmp_path, "well", code=0)).verdict == WELL
    assert not result(trial, ended(tmp_path, "not well", code=3)).right(trial)
    assert trial.key != BROKEN.key


def test_broken_variant_must_show_its_anomaly_and_mended_must_hold() -> None:
    assert result_of("violated", lost_output=1).right(BROKEN)
    assert not result_of("violated", duplicate_output=1).right(BROKEN)
    assert not result_of("holds").right(BROKEN)
    assert not result_of("unexercised").right(MENDED)
    assert result_of("holds").right(MENDED)


class TestResults:
    def test_stored_result_is_loaded(self, tmp_path: Path) -> None:
        Results(tmp_path / "results").add(result_of("violated", lost_output=1))
        reopened = Results(tmp_path / "results")
        assert reopened.of(BROKEN) == result_of("violated", lost_output=1)
        assert reopened.of(MENDED) is None

    def test_result_of_other_code_is_ignored(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        Results(tmp_path / "results").add(result_of("holds"))
        monkeypatch.setattr("tests.power.trial.code", lambda: "other")
        assert Results(tmp_path / "results").of(BROKEN) is None

    def test_truncated_line_is_skipped(self, tmp_path: Path) -> None:
        Results(tmp_path / "results").add(result_of("holds"))
        with (tmp_path / "results").open("a") as lines:
            lines.write('{"key": ["no-')
        assert Results(tmp_path / "results").of(BROKEN) is not None


class TestKept:
    def test_newest_result_is_kept_without_its_folder(self, tmp_path: Path) -> None:
        first, second = result_of("holds"), result_of("violated", lost_output=1)
        Kept(tmp_path / "kept").add([replace(first, folder="/somewhere"), second])
        Kept(tmp_path / "kept").add([])
        assert Kept(tmp_path / "kept").told([PAIR]) == [(BROKEN, second)]
        assert "somewhere" not in (tmp_path / "kept").read_text()

    def test_result_counts_for_other_code_but_not_for_another_program(self, tmp_path: Path) -> None:
        *what, digest, _ = BROKEN.key
        kept = Kept(tmp_path / "kept")
        kept.add([replace(result_of("holds"), key=(*what, digest, "older"))])
        assert len(kept.told([PAIR])) == 1
        kept.add([replace(result_of("holds"), key=(*what, "other", "older"))])
        assert not kept.told([PAIR])


def test_page_lists_caught_and_wrong_trials() -> None:
    results = [(BROKEN, result_of("violated", lost_output=2)), (MENDED, result_of("unexercised"))]
    assert summary(results) == (
        "as they deserve: 1 of 1 trial of broken ones, 0 of 1 trial of mended ones"
    )
    made = page(results, {"go-one": "go is not on this machine"}, 60)
    assert "✓ violated lost-output (2) (standard, seed 1)" in made
    assert "✗ unexercised (standard, seed 1)" in made
    assert "* `no-rewind-mended-1`: unexercised" in made
    assert "1 of 60 small pipelines" in made
    assert "* Left out: go-one: go is not on this machine." in made
