"""The matrix: planning, sampling, reuse of earlier runs, and results."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from onceproof.catalogue import chosen
from onceproof.checkers import Verdict
from onceproof.checkers.model import Expectation
from onceproof.harness.history.run_record import RunRecord
from onceproof.harness.processes.side_by_side import Ended
from onceproof.harness.schedule.as_json import schedule_to_json
from onceproof.harness.schedule.scenario import Scenario
from onceproof.matrix import board
from onceproof.matrix.capacity import room_for
from onceproof.matrix.earlier import latest, records, reusable
from onceproof.matrix.plan import Planned, plan
from onceproof.matrix.sample import QUICK_SECONDS, family_of, sample
from onceproof.reports.model import Claim, FinePrint, Phase, Report, RunFacts
from onceproof.reports.model_timeline import Timeline
from onceproof.reports.runs.claims import ClaimResult
from onceproof.reports.runs.trial import State, Trial
from onceproof.scenarios import all_scenarios, spark_state
from tests.unit.harness.history.test_run_record import RECORD

CODE = "0123456789ab"


def named(name: str) -> Scenario:
    (found,) = chosen([name])
    return found


@pytest.fixture
def place() -> Planned:
    (found,) = plan([named("control-fault-without-effect")], ["local"], 7)
    return found


def report(place: Planned, verdict: Verdict, outcome: str | None = "ok") -> Report:
    expect = place.scenario.claims[0].expect
    assert expect is not None
    claim = Claim(
        name="exactly-once payments → ledger",
        guarantee="exactly-once",
        hop="process",
        input="payments",
        sink="ledger",
        view="table",
        fine_print=FinePrint(promise="", failures="", guarantee="", not_tested="", covers=()),
        verdict=verdict,
        reason="Because.",
        refuted_by=(),
        undecided=(),
        hazards_required=(),
        hazards_seen={},
        expectation={"verdict": expect.verdict, "anomalies": ()},
        expected=verdict is expect.verdict,
    )
    nothing: dict[str, Any] = {
        "workload": {}, "configuration": {}, "host": {}, "versions": {}, "schedule": ()
    }  # fmt: skip
    return Report(
        headline="So.",
        verdict=verdict,
        expected=claim.expected,
        run=RunFacts(
            run="r", scenario=place.scenario.name, title="t", seed=place.seed, repeat="again",
            started_at="then", seconds=12.5, subject="s", subject_says="It says.", **nothing
        ),
        claims=(claim,),
        findings=(),
        mutation_check=(),
        faults=(),
        hazards=(),
        phases=(
            Phase(phase="arrange", started_at=0, ended_at=1, outcome="ok", detail=None),
            Phase(phase="collect", started_at=1, ended_at=2, outcome=outcome, detail=None),
        ),
        timeline=Timeline(
            end=2, bin_seconds=1, producers=(), brokers=(), pipeline=(), batches=(), faults=(),
            hazards=(), findings=(), findings_without_time=0,
        ),
        counts={},
        notes=(),
    )  # fmt: skip


def write_run(
    runs: Path,
    place: Planned,
    *,
    name: str = "a-run",
    verdict: Verdict = Verdict.INVALID,
    outcome: str | None = "ok",
    **changes: Any,
) -> Path:
    """Write a run folder like a run of that place."""
    folder = runs / name
    folder.mkdir(parents=True)
    fields: dict[str, Any] = {
        "scenario": place.scenario.name,
        "seed": place.seed,
        "versions": {"code": CODE},
        "configuration": {"backend": place.backend},
        "workload": json.loads(json.dumps(asdict(place.scenario.workload))),
        "plan": json.loads(json.dumps(schedule_to_json(place.scenario.schedule))),
    }
    RECORD.model_copy(update=fields | changes).save(folder)
    (folder / "report.json").write_text(report(place, verdict, outcome).model_dump_json())
    return folder


def ended(place: Planned, folder: Path, *, code: int = 0, overdue: bool = False) -> Ended:
    log = folder / "matrix-logs" / "x.1.log"
    log.parent.mkdir(exist_ok=True, parents=True)
    log.write_text("first\nonceproof: it went \x1b[31mwrong\n\n")
    return Ended(job=place.job(folder), code=code, seconds=3.0, overdue=overdue, log=log)


# Planning.


def test_local_plan_has_every_scenario() -> None:
    places = plan(all_scenarios(), ["local"], 1)
    assert [place.scenario.name for place in places] == [s.name for s in all_scenarios()]
    assert all(place.lacks is None for place in places)


def test_plan_has_the_versions_that_a_subject_needs() -> None:
    chose = {"kafka": "3.9.2"}
    usual, earlier = plan([named("spark-delta"), named("spark-hudi")], ["local"], 1, chose)
    assert usual.versions == chose
    assert earlier.versions == {**chose, "spark": "3.5.3"}
    assert "spark=3.5.3" in earlier.job(Path("runs")).command


def test_drawn_schedule_depends_on_the_seed() -> None:
    drawn = named("drawn-postgres")
    (one,), (two,) = (plan([drawn], ["local"], seed) for seed in (1, 2))
    assert one.scenario.schedule
    assert one.scenario.schedule != two.scenario.schedule
    assert one.kinds == ("crash", "partition", "timeout")


def test_plan_names_what_a_backend_lacks() -> None:
    scenarios = [named("spark-kafka-sink"), named("jms-forwarder-transacted")]
    places = plan(scenarios, ["docker", "local-secured"], 1)
    assert {place.name: place.lacks for place in places} == {
        "spark-kafka-sink-docker": None,
        "jms-forwarder-transacted-docker": None,
        "spark-kafka-sink-local-secured": None,
        "jms-forwarder-transacted-local-secured": "local-secured does not offer plain text",
    }


def test_job_runs_the_scenario_with_its_seed(place: Planned, tmp_path: Path) -> None:
    job = place.job(tmp_path)
    words = list(map(str, job.command))
    assert words[0] == sys.executable
    assert " ".join(words[words.index("-m") + 1 :]) == (
        "onceproof --config none run control-fault-without-effect --seed 7 "
        f"--out {tmp_path} --backend local"
    )
    assert job.seconds > 10 * place.scenario.seconds


def test_parallel_runs_are_limited_by_cores_and_memory() -> None:
    assert room_for(cores=2, memory=23.4) == 2
    assert room_for(cores=16, memory=23.4) == 3
    assert room_for(cores=4, memory=3.0) == 1


# Sampling.


def test_sample_covers_every_family_within_the_time() -> None:
    found = sample(all_scenarios())
    families = {family_of(s.subject) for s in all_scenarios()}
    assert {family_of(s.subject) for s in found} == families
    assert len(found) <= 2 * len(families)
    alone = sum(s.seconds for s in sample(all_scenarios(), 0))
    assert sum(s.seconds for s in found) <= max(QUICK_SECONDS, alone)
    assert sum(s.seconds for s in found) < 1200


def test_family_is_the_module_unless_declared() -> None:
    assert (
        family_of(named("spark-kafka-sink").subject)
        == "onceproof.harness.subjects.spark.kafka_sink"
    )
    stateful = {family_of(s.subject) for s in all_scenarios() if s in spark_state.SCENARIOS}
    assert stateful == {"spark-state"}


def _variant(scenario: Scenario, name: str, verdict: Verdict, seconds: int) -> Scenario:
    anomalies = frozenset({"duplicate-output"} if verdict is Verdict.VIOLATED else ())
    claims = tuple(
        replace(claim, expect=Expectation(verdict=verdict, anomalies=anomalies))
        for claim in scenario.claims
    )
    return replace(scenario, name=name, claims=claims, seconds=seconds)


def test_sample_takes_cheapest_holding_scenario_and_cheapest_twin() -> None:
    base = named("spark-foreachbatch-postgres")
    family = [
        _variant(base, "twin", Verdict.VIOLATED, 30),
        _variant(base, "cheap-twin", Verdict.VIOLATED, 20),
        _variant(base, "dear", Verdict.HOLDS, 90),
        _variant(base, "good", Verdict.HOLDS, 60),
        _variant(base, "control", Verdict.INVALID, 5),
        replace(_variant(base, "quiet", Verdict.HOLDS, 6), schedule=()),
    ]
    assert [s.name for s in sample(family, 80)] == ["cheap-twin", "good"]
    assert [s.name for s in sample(family, 79)] == ["good"]
    assert [s.name for s in sample(family, 0)] == ["good"]


def test_scenario_with_a_violated_claim_needs_no_twin() -> None:
    base = named("spark-kafka-sink")
    expensive = replace(base, name="dear", seconds=base.seconds + 1)
    assert [s.name for s in sample([base, expensive], 1000)] == [base.name]


# Reuse of earlier runs.


def test_finished_run_is_reused(tmp_path: Path, place: Planned) -> None:
    folder = write_run(tmp_path, place)
    found = reusable(place, records(tmp_path), code=CODE)
    assert found is not None
    assert found.folder == folder


def test_unexpected_run_is_reused(tmp_path: Path, place: Planned) -> None:
    write_run(tmp_path, place, verdict=Verdict.HOLDS)
    assert reusable(place, records(tmp_path), code=CODE) is not None


@pytest.mark.parametrize(
    "changes",
    [
        {"scenario": "control-idle-crash"},
        {"seed": 8},
        {"configuration": {"backend": "docker"}},
        {"configuration": {"backend": "local", "features": {"transaction.version": 1}}},
        {"versions": {"code": "another"}},
        {"versions": {}},
        {"plan": []},
        {"plan": None},
        {"workload": {"records": 1}},
        {"outcome": "interrupted"},
        {"outcome": None},
    ],
)
def test_different_or_interrupted_run_is_not_reused(
    tmp_path: Path, place: Planned, changes: dict[str, Any]
) -> None:
    write_run(tmp_path, place, **changes)
    assert reusable(place, records(tmp_path), code=CODE) is None


def test_run_without_readable_report_is_not_reused(tmp_path: Path, place: Planned) -> None:
    (write_run(tmp_path, place) / "report.json").write_text("{")
    (tmp_path / "no-run").mkdir()
    (tmp_path / "no-run" / "run.json").write_text("{")
    assert reusable(place, records(tmp_path), code=CODE) is None


def test_newest_finished_run_is_reused(tmp_path: Path, place: Planned) -> None:
    write_run(tmp_path, place, name="c-old", wall_ns=1)
    new = write_run(tmp_path, place, name="b-new", wall_ns=2)
    interrupted = write_run(tmp_path, place, name="a-cut", wall_ns=3, outcome="interrupted")
    found = reusable(place, records(tmp_path), code=CODE)
    assert found is not None
    assert found.folder == new
    last = latest(place, records(tmp_path))
    assert last is not None
    assert last.folder == interrupted


# Results.


def trial_of(
    place: Planned, runs: Path, end: Ended, *, stopping: bool = False, code: str = CODE
) -> Trial:
    found: dict[Path, RunRecord] = records(runs)
    return board.ran(place, end, found, page=runs, code=code, stopping=stopping)


def test_place_without_run_is_waiting_or_left_out(place: Planned) -> None:
    trial = board.waiting(place)
    assert (trial.state, trial.expected) == (State.WAITING, False)
    assert trial.subject == "spark-foreachbatch-postgres"
    assert board.waiting(replace(place, lacks="it lacks gates")).state is State.LEFT_OUT


def test_trial_is_read_from_the_run_folder(tmp_path: Path, place: Planned) -> None:
    write_run(tmp_path, place, name="a run #1")
    trial = trial_of(place, tmp_path, ended(place, tmp_path))
    assert (trial.state, trial.expected, trial.remark) == (State.RUN, True, None)
    assert (trial.report, trial.seconds) == ("a%20run%20%231/report.html", 12.5)
    assert trial.claims[0].should_be == "invalid"


def test_run_with_different_code_has_a_remark(tmp_path: Path, place: Planned) -> None:
    write_run(tmp_path, place)
    trial = trial_of(place, tmp_path, ended(place, tmp_path), code="later")
    assert trial.state is State.RUN
    assert trial.remark == (
        f"it ran with different code ({CODE}) than the matrix started with"
    )  # fmt: skip


def test_crash_is_a_failed_trial(tmp_path: Path, place: Planned) -> None:
    trial = trial_of(place, tmp_path, ended(place, tmp_path, code=1))
    assert (trial.state, trial.expected, trial.claims) == (State.FAILED, False, ())
    assert trial.remark == (
        r"ended early with exit code 1 and last output: onceproof: it went \x1b[31mwrong; "
        "see matrix-logs/x.1.log"
    )
    killed = trial_of(place, tmp_path, ended(place, tmp_path, code=-9)).remark
    assert killed is not None
    assert killed.startswith("ended early with signal 9")


def test_interrupted_run_has_no_claims(tmp_path: Path, place: Planned) -> None:
    write_run(tmp_path, place, outcome="interrupted")
    end = ended(place, tmp_path, code=130, overdue=True)
    overdue = trial_of(place, tmp_path, end)
    assert (overdue.state, overdue.claims) == (State.FAILED, ())
    assert overdue.remark is not None
    assert "ended after its time limit of" in overdue.remark
    stopped = trial_of(place, tmp_path, end, stopping=True)
    assert (stopped.state, stopped.remark, stopped.claims) == (State.WAITING, "interrupted", ())


def test_run_that_ended_before_the_stop_counts(tmp_path: Path, place: Planned) -> None:
    write_run(tmp_path, place)
    assert trial_of(place, tmp_path, ended(place, tmp_path), stopping=True).state is State.RUN


def _trial(place: Planned, state: State, *verdicts: tuple[Verdict, bool]) -> Trial:
    claims = tuple(
        ClaimResult(name="c", verdict=verdict, expected=expected, should_be="holds", reason="")
        for verdict, expected in verdicts
    )
    return replace(board.waiting(place), state=state, claims=claims)


def test_exit_code_is_computed_like_that_of_run(place: Planned) -> None:
    good = _trial(place, State.RUN, (Verdict.VIOLATED, True), (Verdict.HOLDS, True))
    stalled = _trial(place, State.REUSED, (Verdict.STALLED, False))
    both = _trial(place, State.RUN, (Verdict.UNKNOWN, False), (Verdict.INVALID, False))
    held = _trial(place, State.RUN, (Verdict.HOLDS, False))
    left_out = _trial(place, State.LEFT_OUT)
    assert board.exit_code([good, left_out]) == 0
    assert board.exit_code([left_out, left_out]) == board.exit_code([]) == 5, "nothing was judged"
    assert board.exit_code([good, stalled]) == 4
    assert board.exit_code([good, stalled, both]) == 3
    assert board.exit_code([good, stalled, both, held]) == 1
    assert board.exit_code([held, _trial(place, State.WAITING)]) == 130
    assert board.exit_code([good, _trial(place, State.FAILED)]) == 3
    assert board.exit_code([good, _trial(place, State.RUN)]) == 5
