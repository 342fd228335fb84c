"""`onceproof check`: the same result again, and a stored history that somebody has touched."""

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
    "which", ["guarded", *(pytest.param(w, marks=LATER) for w in ("unguarded", "kafka_sink"))]
)
def test_checking_again_gives_the_same_report(which, request):
    finished = request.getfixturevalue(which)
    before = without_paths(finished)
    again = onceproof("check", finished.folder)
    assert again.code == 0
    assert without_paths(again) == before


def test_report_writes_the_page_again(copied):
    page = copied / "report.html"
    before = page.read_text()
    page.unlink()
    done = onceproof("report", copied)
    assert done.code == 0
    assert str(page) in done.out
    assert page.read_text() == before


def dropped(effects: pa.Table, place: int) -> pa.Table:
    return pa.concat_tables([effects.slice(0, place), effects.slice(place + 1)])


def copied_row(effects: pa.Table, place: int) -> pa.Table:
    """The same effect once more, elsewhere: one place twice is no effect but a broken history."""
    row, index = effects.slice(place, 1), effects.column_names.index("position")
    field = effects.schema.field(index)
    elsewhere = row.set_column(index, field, pa.array(["elsewhere"], field.type))
    return pa.concat_tables([effects, elsewhere])


def altered(effects: pa.Table, place: int) -> pa.Table:
    mask = pc.equal(pa.array(range(effects.num_rows)), place)
    digests = pc.if_else(mask, pa.scalar("0000000000000000"), effects.column("digest"))
    index = effects.column_names.index("digest")
    return effects.set_column(index, effects.schema.field(index), digests)


@pytest.mark.parametrize(
    ("mutation", "anomaly"),
    [(dropped, "lost-output"), (copied_row, "duplicate-output"), (altered, "wrong-output")],
)
@pytest.mark.parametrize("place", [0, 11_111, 19_999])
def test_one_touched_effect_is_found_and_named(copied, mutation, anomaly, place):
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
    assert others <= {"offset-ahead"}  # what is lost is also lost at the next start


def empty(file: Path) -> None:
    pq.write_table(pq.read_table(file).slice(0, 0), file)


@pytest.mark.parametrize("tables", [["effects"], ["log"], ["expected"], ["effects", "log"]])
def test_an_emptied_history_never_holds(copied, tables):
    for name in tables:
        empty(copied / "history" / f"{name}.parquet")
    assert onceproof("check", copied).code == 2
    done = onceproof("check", "--unsealed", copied)
    assert done.code != 0
    verdicts = {c["name"]: c["verdict"] for c in done.report["claims"]}
    assert verdicts[CLAIM] != "holds"


def test_without_recorded_calls_nothing_is_said_of_the_producers(copied):
    empty(copied / "history" / "sends.parquet")
    seal_folder(copied)
    done = onceproof("check", copied)
    assert done.code == 3
    (claim,) = [c for c in done.report["claims"] if c["hop"] == "produce"]
    assert claim["verdict"] == "invalid"
    assert "sends has 0 rows" in claim["reason"]


def test_a_whole_history_without_rows_never_holds(copied):
    for file in (copied / "history").glob("*.parquet"):
        if file.stem not in ("phases", "faults", "hazards"):
            empty(file)
    done = onceproof("check", "--unsealed", copied)
    assert done.code == 3
    assert "holds" not in {c["verdict"] for c in done.report["claims"]}


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (lambda f: (f / "run.json").unlink(), "is not a run folder"),
        (lambda f: (f / "run.json").write_text("{"), "is not JSON"),
        (lambda f: (f / "run.json").write_text("{}"), "run.json: "),
        (lambda f: (f / "history" / "effects.parquet").write_bytes(b"junk"), "effects.parquet"),
        (lambda f: shutil.rmtree(f / "history"), "history"),
        (shutil.rmtree, "does not exist"),
    ],
)
def test_a_broken_folder_gets_a_sentence_and_no_traceback(copied, damage, says):
    damage(copied)
    done = onceproof("check", copied)
    assert done.code == 2
    assert says in done.err
    assert "Traceback" not in done.err
    assert len(done.err.strip().splitlines()) <= 3


def test_the_stored_report_fits_the_published_schema(guarded):
    from onceproof.reports.model import Report

    Report.model_validate(json.loads((guarded.folder / "report.json").read_text()))
