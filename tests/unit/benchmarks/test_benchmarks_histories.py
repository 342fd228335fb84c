"""Generated histories are correct, or mutated in known places."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.compute as pc
import pytest

from benchmarks.generate import generate
from benchmarks.plan import Plan, Shape
from onceproof.checkers import History, Judgement, Verdict, check, end_to_end, exactly_once
from onceproof.checkers.tables import TABLES

CLAIMS = [
    exactly_once("input", into="ledger", view="table", hazards={"replayed-batch"}),
    end_to_end("exactly-once", "input", into="ledger", view="table", hazards={"retried-send"}),
]

CORRECT = {
    "one to one": Plan(records=2_000),
    "large offsets": Plan(records=2_000, offset_base=50_000_000),
    "transactions": Plan(records=2_000, transactions=True, batch=1_000),
    "filter": Plan(records=2_000, shape=Shape.FILTER),
    "one to many": Plan(records=2_000, shape=Shape.ONE_TO_MANY, transactions=True),
    "partial last batch": Plan(records=1_234, transactions=True, batch=1_000),
    "almost empty": Plan(records=4),
}


def _judged(folder: Path) -> Judgement:
    history = History.load(folder / "history")
    assert history.missing == ()
    return check(history, CLAIMS)


@pytest.mark.parametrize("plan", CORRECT.values(), ids=CORRECT.keys())
def test_generated_history_holds(tmp_path: Path, plan: Plan) -> None:
    judgement = _judged(generate(plan, tmp_path))
    assert [(j.verdict, j.reason) for j in judgement.claims if j.verdict is not Verdict.HOLDS] == []
    assert judgement.findings == ()


@pytest.mark.parametrize("shape", Shape)
def test_only_the_mutations_are_found(tmp_path: Path, shape: Shape) -> None:
    plan = Plan(records=2_000, shape=shape, transactions=True, batch=1_000, drop=7, duplicate=6)
    folder = generate(plan, tmp_path)
    made = json.loads((folder / "made.json").read_text())
    found = {f.anomaly: f for f in _judged(folder).findings}
    assert found.keys() == {"lost-output", "offset-ahead", "duplicate-output"}
    for anomaly, mutated in (("lost-output", "dropped"), ("duplicate-output", "duplicated")):
        shown = {(f.key["record"], f.key["effect_key"]) for f in found[anomaly].shown}
        assert shown == {(e["record"], e["effect_key"]) for e in made[mutated]}
    assert len(made["dropped"]) == 7
    assert len(made["duplicated"]) == 6


def test_history_has_retries_all_outcomes_and_offset_base(tmp_path: Path) -> None:
    plan = Plan(records=2_000, transactions=True, batch=2_000, offset_base=7)
    folder = generate(plan, tmp_path)
    history = History.load(folder / "history")
    sends, txns, log = (history[name] for name in ("sends", "txns", "log"))
    assert sends.num_rows > len(pc.unique(sends["record"])) == plan.records
    assert set(sends["outcome"].to_pylist()) == {"ok", "info"}
    assert set(txns["outcome"].to_pylist()) == {"committed", "aborted", "info"}
    assert set(log["kind"].to_pylist()) == {"data", "commit", "abort"}
    assert pc.min(log["offset"]).as_py() == 7
    rows = json.loads((folder / "made.json").read_text())["rows"]
    assert rows == {name: history[name].num_rows for name in TABLES}


def test_history_is_generated_once(tmp_path: Path) -> None:
    plan = Plan(records=10)
    made = generate(plan, tmp_path) / "made.json"
    before = made.stat().st_mtime_ns
    assert generate(plan, tmp_path) == made.parent
    assert made.stat().st_mtime_ns == before
    assert [path.name for path in tmp_path.iterdir()] == [plan.name]


def test_too_many_mutations_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="11 mutations are too many for 10 effects"):
        generate(Plan(records=10, drop=11), tmp_path)
    assert list(tmp_path.iterdir()) == []
