"""Loading a side of a comparison from a run folder, a report or a judgement file."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from onceproof.checkers.model import Hop, Judgement, Verdict
from onceproof.reports.build import build
from onceproof.reports.diff.compare import compare
from onceproof.reports.diff.load import load_side
from onceproof.reports.diff.model import Outcome
from onceproof.reports.diff.sides import side_of_report
from onceproof.reports.judgement_json import judgement_json
from onceproof.reports.model import Report
from onceproof.reports.write import UnreadableReport, write

OK = [{"phase": p, "outcome": "ok"} for p in ("settle", "collect")]


@pytest.fixture
def complete(small: SimpleNamespace) -> Report:
    """The small run with successful settle and collect phases, which make it complete."""
    history = small.history()
    history["phases"] = small.arrow("phases", OK)
    return build(small.record(), history, small.judgement(history))


def test_run_folder_and_its_report_load_equal(complete: Report, tmp_path: Path) -> None:
    page, data = write(tmp_path, complete)
    side = load_side(tmp_path)
    assert load_side(data) == side
    assert side.page == str(page)
    assert side.name == side.history == complete.run.run
    assert side.hazards == {("replayed-batch", Hop.PROCESS)}
    assert side.incomplete is None
    assert side.flaw is None
    page.unlink()
    assert load_side(tmp_path).page is None


def test_judgement_of_a_run_is_compared_with_it_by_record(
    complete: Report, small: SimpleNamespace, tmp_path: Path
) -> None:
    history = small.history()
    text = judgement_json(small.judgement(history), source=f"runs/{'20250101T000000Z-small-7'}")
    (file := tmp_path / "judgement.json").write_text(text)
    judged = load_side(file)
    assert judged.history == "20250101T000000Z-small-7"
    assert [claim.verdict for claim in judged.claims] == [Verdict.VIOLATED, Verdict.HOLDS]
    assert [claim.name for claim in judged.claims] == [claim.name for claim in complete.claims]
    found = compare(side_of_report(complete), judged)
    assert found.by_record
    assert found.outcome is Outcome.NOTHING_NEW
    assert [(pair.status, len(pair.records)) for pair in found.findings] == [("still there", 1)]
    assert not [d for d in found.differences if d.section != "hazards observed"]


def test_judgement_is_complete_only_if_a_claim_proves_it(
    small: SimpleNamespace, tmp_path: Path
) -> None:
    violated, holds = small.judgement(small.history()).claims
    for claims, why in (
        ((violated, holds), None),
        ((violated, small.judged("at-least-once", Verdict.UNEXERCISED)), None),
        ((violated,), "its judgement does not state that it settled and was collected completely"),
        (
            (violated, small.judged("at-least-once", Verdict.UNKNOWN)),
            "its judgement does not state",
        ),
    ):
        judgement = Judgement(claims=claims, findings=(), mutation_check=())
        (file := tmp_path / "j.json").write_text(judgement_json(judgement, source="history.edn"))
        side = load_side(file)
        assert side.history is None
        assert (side.incomplete is None) is (why is None)
        assert (why or "") in (side.incomplete or "")


@pytest.mark.parametrize(
    ("phases", "why"),
    [
        (OK, None),
        (OK[1:], "it did not reach phase settle"),
        (OK[:1], "it did not reach phase collect"),
        ([OK[0], {"phase": "collect", "outcome": None}], "its phase collect did not succeed"),
        ([OK[0], {"phase": "collect", "outcome": "interrupted"}], "its phase collect did not succ"),
        ([{"phase": "heal", "outcome": "stalled"}, *OK], "its phase heal did not succeed"),
        ([], "it did not reach phase settle"),
    ],
)
def test_report_is_incomplete_if_a_phase_failed_or_is_missing(
    small: SimpleNamespace, phases: list[dict[str, str]], why: str | None
) -> None:
    history = small.history()
    history["phases"] = small.arrow("phases", phases)
    side = side_of_report(build(small.record(), history, small.judgement(history)))
    assert (side.incomplete is None) is (why is None)
    assert (why or "") in (side.incomplete or "")


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({}, None),
        ({"took_effect": False}, "its fault «1-kill» had no effect"),
        ({"took_effect": False, "required": False}, "none of its faults took effect"),
        ({"healed_at": None}, "its fault «1-kill» has no recorded healing"),
        ({"error": "no such broker"}, "its fault «1-kill» failed"),
        ({"error": "no such broker", "required": False}, None),
    ],
)
def test_fault_that_failed_or_had_no_effect_is_a_flaw(
    complete: Report, change: dict[str, object], why: str | None
) -> None:
    fault = complete.faults[0].model_copy(update=change)
    assert side_of_report(complete.model_copy(update={"faults": (fault,)})).flaw == why


def test_failed_mutation_check_is_a_flaw(complete: Report) -> None:
    mutation = complete.mutation_check[0].model_copy(update={"found": False})
    flaw = side_of_report(complete.model_copy(update={"mutation_check": (mutation,)})).flaw
    assert flaw == "its mutation self-check failed: mutation «effect dropped» was not found"


def test_lists_differences_between_the_runs(complete: Report) -> None:
    run = complete.run.model_copy(
        update={
            "seed": 8,
            "versions": {"onceproof": "0", "kafka": "4.2.0"},
            "workload": {"records": 3, "transaction": None},
            "configuration": {"backend": "docker", "broker": {"acks": "1", "list": [1, 2]}},
            "schedule": (complete.run.schedule[0].model_copy(update={"when": "at once"}),),
        }
    )
    changed = complete.model_copy(
        update={
            "run": run,
            "hazards": (),
            "faults": (complete.faults[0].model_copy(update={"took_effect": False}),),
        }
    )
    found = compare(side_of_report(complete), side_of_report(changed)).differences
    assert [(d.section, d.name, d.a, d.b) for d in found] == [
        ("run", "seed", "7", "8"),
        ("run", "backend", "local", "docker"),
        ("versions", "kafka", None, "4.2.0"),
        ("configuration", "broker · acks", "all", "1"),
        (
            "schedule",
            "1-kill",
            "when at half of progress: kill it; until restarted",
            "when at once: kill it; until restarted",
        ),
        ("faults that took effect", "1-kill", "took effect", "had no effect"),
        ("hazards observed", "replayed-batch on hop process", "1", None),
    ]


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("", "the whole file"),
        ("{}", "headline"),
        ('{"format": "onceproof-report/9"}', "format"),
        ('{"format": "onceproof-judgement", "version": 3}', "version"),
        ('{"format": "onceproof-judgement", "version": 1', "the whole file"),
    ],
)
def test_rejects_files_of_unknown_format(tmp_path: Path, text: str, what: str) -> None:
    (file := tmp_path / "odd.json").write_text(text)
    with pytest.raises(UnreadableReport, match=f"odd.json: {what}"):
        load_side(file)


def test_rejects_judgement_with_an_invalid_claim(small: SimpleNamespace, tmp_path: Path) -> None:
    data = json.loads(judgement_json(small.judgement(small.history()), source="h"))
    data["claims"][0]["claim"]["guarantee"] = "twice"
    (file := tmp_path / "odd.json").write_text(json.dumps(data))
    with pytest.raises(UnreadableReport, match=r"field `guarantee`: expected one of"):
        load_side(file)


@pytest.mark.parametrize("name", ["nowhere", "empty"])
def test_rejects_missing_folder_or_report(tmp_path: Path, name: str) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(UnreadableReport, match=r"does not exist|has no report\.json"):
        load_side(tmp_path / name)
