"""`onceproof check` on unchanged and on manipulated histories."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from onceproof.harness.history.folder import seal_folder
from tests.end_to_end.catalogue import LATER
from tests.end_to_end.command import onceproof

pytestmark = [pytest.mark.integration, pytest.mark.slow]

CLAIM = "exactly-once payments → ledger"


@pytest.fixture
def copied(guarded, tmp_path) -> Path:
    return shutil.copytree(guarded.folder, tmp_path / guarded.folder.name)


def without_paths(finished) -> dict:
    return {k: v for k, v in finished.report.items() if k != "generated_at"}


@pytest.mark.parametrize(
    "fixture", ["guarded", *(pytest.param(w, marks=LATER) for w in ("unguarded", "kafka_sink"))]
)
def test_check_reproduces_the_report(fixture, request):
    finished = request.getfixturevalue(fixture)
    before = without_paths(finished)
    checked = onceproof("check", finished.folder)
    assert checked.code == 0
    assert without_paths(checked) == before


def test_report_recreates_the_page(copied):
    page = copied / "report.html"
    before = page.read_text()
    page.unlink()
    done = onceproof("report", copied)
    assert done.code == 0
    assert str(page) in done.out
    assert page.read_text() == before


def without_effect(effects: pa.Table, place: int) -> pa.Table:
    return pa.concat_tables([effects.slice(0, place), effects.slice(place + 1)])


def with_copied_effect(effects: pa.Table, place: int) -> pa.Table:
    """The same effect at another position; the same position twice would be a broken history."""
    row, index = effects.slice(place, 1), effects.column_names.index("position")
    field = effects.schema.field(index)
    elsewhere = row.set_column(index, field, pa.array(["elsewhere"], field.type))
    return pa.concat_tables([effects, elsewhere])


def with_altered_digest(effects: pa.Table, place: int) -> pa.Table:
    mask = pc.equal(pa.array(range(effects.num_rows)), place)
    digests = pc.if_else(mask, pa.scalar("0000000000000000"), effects.column("digest"))
    index = effects.column_names.index("digest")
    return effects.set_column(index, effects.schema.field(index), digests)


@pytest.mark.parametrize(
    ("mutation", "anomaly"),
    [
        (without_effect, "lost-output"),
        (with_copied_effect, "duplicate-output"),
        (with_altered_digest, "wrong-output"),
    ],
)
@pytest.mark.parametrize(
    "place", [pytest.param(0, marks=LATER), 11_111, pytest.param(19_999, marks=LATER)]
)
def test_check_finds_a_manipulated_effect(copied, mutation, anomaly, place):
    file = copied / "history" / "effects.parquet"
    effects = pq.read_table(file)
    record = effects.column("record")[place].as_py()
    pq.write_table(mutation(effects, place), file)
    refused = onceproof("check", copied)
    assert refused.code == 2
    assert "effects.parquet was changed since the run sealed it" in refused.err
    seal_folder(copied)
    done = onceproof("check", copied)
    assert done.code == 1
    claim = next(c for c in done.report["claims"] if c["name"] == CLAIM)
    assert claim["verdict"] == "violated"
    assert anomaly in claim["refuted_by"]
    (group,) = [g for g in done.report["findings"] if g["anomaly"] == anomaly]
    assert group["count"] == 1
    assert group["shown"][0]["key"]["record"] == record
    others = {g["anomaly"] for g in done.report["findings"]} - {anomaly}
    assert others <= {"offset-ahead"}  # a lost effect also leaves the position ahead


def empty(file: Path) -> None:
    pq.write_table(pq.read_table(file).slice(0, 0), file)


@pytest.mark.parametrize("tables", [["effects"], ["log"], ["expected"], ["effects", "log"]])
def test_exactly_once_does_not_hold_with_empty_tables(copied, tables):
    for name in tables:
        empty(copied / "history" / f"{name}.parquet")
    assert onceproof("check", copied).code == 2
    done = onceproof("check", "--unsealed", copied)
    assert done.code != 0
    verdicts = {c["name"]: c["verdict"] for c in done.report["claims"]}
    assert verdicts[CLAIM] != "holds"


def test_producer_claim_is_invalid_without_sends(copied):
    empty(copied / "history" / "sends.parquet")
    seal_folder(copied)
    done = onceproof("check", copied)
    assert done.code == 3
    (claim,) = [c for c in done.report["claims"] if c["hop"] == "produce"]
    assert claim["verdict"] == "invalid"
    assert "sends has 0 rows" in claim["reason"]


def test_no_claim_holds_on_an_empty_history(copied):
    for file in (copied / "history").glob("*.parquet"):
        if file.stem not in ("phases", "faults", "hazards"):
            empty(file)
    done = onceproof("check", "--unsealed", copied)
    assert done.code == 3
    assert "holds" not in {c["verdict"] for c in done.report["claims"]}


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda f: (f / "run.json").unlink(), "is not a run folder"),
        (lambda f: (f / "run.json").write_text("{"), "is not JSON"),
        (lambda f: (f / "run.json").write_text("{}"), "run.json: "),
        (lambda f: (f / "history" / "effects.parquet").write_bytes(b"junk"), "effects.parquet"),
        (lambda f: shutil.rmtree(f / "history"), "history"),
        (shutil.rmtree, "does not exist"),
    ],
)
def test_broken_folder_is_reported_without_traceback(copied, damage, message):
    damage(copied)
    done = onceproof("check", copied)
    assert done.code == 2
    assert message in done.err
    assert "Traceback" not in done.err
    assert len(done.err.strip().splitlines()) <= 3


def test_stored_report_matches_schema(guarded):
    from onceproof.reports.model import Report

    Report.model_validate(json.loads((guarded.folder / "report.json").read_text()))
