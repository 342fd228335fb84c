"""A run folder on a file system that is not this machine's, judged by real Spark.

`viewfs` is Hadoop's own: a name space whose folders are mounted by configuration, so that a place
in it means nothing to whoever takes it for a path of this machine.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from onceproof.checkers import History, Verdict, at_least_once, check, claim_to_json, exactly_once
from onceproof.checkers.engines.places import open_folder
from onceproof.checkers.engines.settings import Settings
from onceproof.checkers.promised import PHASES
from onceproof.checkers.tables import TABLES
from onceproof.cli import app
from onceproof.harness.history.folder import seal_folder
from tests.end_to_end.catalogue import LATER
from tests.end_to_end.command import onceproof
from tests.unit.harness.history.test_run_record import RECORD

SPARK = Settings(engine="spark", master="local[2]")
OPTIONS = ("--engine", "spark", "--master", "local[2]")
CLAIM = exactly_once("input", into="ledger", view="table")
SMALL = at_least_once("input", into="ledger", view="table")
"""Asks for few anomalies: on Spark each of them takes seconds."""
NAMES = [f"r{n}" for n in range(5)]
HISTORY = History.of(
    sends=[{"record": r, "attempt": r, "partition": 0, "offset": n} for n, r in enumerate(NAMES)],
    log=[{"record": r, "attempt": r, "digest": f"in-{r}"} for r in NAMES],
    partitions=[{"last_stable_offset": 5}],
    effects=[{"record": r, "source_topic": "input"} for r in NAMES[:-1]],
    expected=[{"record": r} for r in NAMES],
    phases=[{"phase": p, "outcome": "ok"} for p in PHASES],
    hazards=[{"hop": "process"}],
)

pytestmark = pytest.mark.timeout(900)


@pytest.fixture(scope="module")
def disk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What is mounted as `viewfs://far/runs`."""
    disk = tmp_path_factory.mktemp("disk")
    run = disk / "a run [7]"  # what Spark reads as a pattern is a name here
    run.mkdir()
    RECORD.model_copy(update={"claims": [claim_to_json(SMALL)], "schedule": []}).save(run)
    HISTORY.save(run / "history")
    (run / "history" / "limits.json").write_text('["the last line of x was cut short"]')
    seal_folder(run)
    return disk


@pytest.fixture(scope="module")
def far(disk: Path) -> Iterator[str]:
    """The URI of the disk, in a Spark that knows it; whoever asks for Spark gets this one."""
    from onceproof.checkers.engines.spark_session import spark_session

    mounted = f"--conf spark.hadoop.fs.viewfs.mounttable.far.link./runs={disk.as_uri()}"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYSPARK_SUBMIT_ARGS", f"{mounted} pyspark-shell")
        with spark_session(SPARK):
            yield "viewfs://far/runs"


def command(*arguments: str) -> tuple[int, str, str]:
    done = CliRunner().invoke(app, ["check", *arguments])
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.exit_code, done.stdout, done.stderr


@LATER
def test_the_real_command_reads_a_file_uri(disk: Path) -> None:
    uri = f"file://{disk}/a run [7]"
    done = onceproof("check", uri, *OPTIONS)
    assert (done.code, done.err) == (1, "")
    assert "at-least-once input → ledger  violated" in done.out
    assert "lost-output: 1 finding" in done.out
    assert "the last line of x was cut short" in done.out
    assert not (disk / "a run [7]" / "report.json").exists()


@LATER
def test_findings_are_those_of_the_copy_on_this_machine(far: str) -> None:
    with open_folder(f"{far}/a run [7]/history", SPARK) as folder:
        history = History.load(folder)
        judgement = check(history, [CLAIM], SPARK)
        assert history.missing == ()
        assert {n: history.rows(n) for n in TABLES} == {n: HISTORY.rows(n) for n in TABLES}
        assert all(history[name].equals(HISTORY[name]) for name in TABLES)
    here = check(HISTORY, [CLAIM])
    assert judgement.claims == here.claims
    assert judgement.findings == here.findings
    assert judgement.claims[0].verdict is Verdict.VIOLATED
    assert judgement.mutation_check == here.mutation_check
    assert judgement.mutation_check
    assert all(mutation.found for mutation in judgement.mutation_check)


@LATER
def test_a_history_is_judged_by_claims_of_the_command_line(far: str, tmp_path: Path) -> None:
    history = f"{far}/a run [7]/history"
    code, out, _ = command(history, *OPTIONS, "--claim", "at-most-once:input->ledger")
    assert (code, out.splitlines()[0]) == (0, f"{history}: 1 claim: 1 holds")
    written = tmp_path / "judgement.json"
    code, out, err = command(history, *OPTIONS, "--json", str(written))
    assert "exactly-once producers → input" in out  # whatever it has tables for
    assert "lost-output" in written.read_text()
    assert err == f"judgement {written}\n"


def test_tables_that_spark_wrote_in_parts_and_what_may_be_left_out(far: str, disk: Path) -> None:
    parts = disk / "parts" / "sends.parquet"
    parts.mkdir(parents=True)
    sends = HISTORY["sends"].drop_columns(["error", "returned_at"])
    for number, part in enumerate((sends.slice(0, 2), sends.slice(2))):
        pq.write_table(part, parts / f"part-{number}.parquet")
    pq.write_table(HISTORY["log"], disk / "parts" / "log.parquet")
    with open_folder(f"{far}/parts", SPARK) as folder:
        history = History.load(folder)
        assert history.rows("sends") == 5
        assert history["sends"]["error"].null_count == 5
        assert "effects" in history.missing
        assert history.distinct("sends", ["topic"]) == {("input",)}
        assert history.distinct("sends", ["topic"], where_known="txn") == set()
        assert history.distinct("sends", ["error"]) == {(None,)}


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("viewfs://far/runs/nowhere", "viewfs://far/runs/nowhere: there is no such folder"),
        ("viewfs://far/runs/a run [7]/run.json", "run.json: expected a folder, found a file"),
        ("viewfs://far/runs", "expected a run folder (with run.json) or one with *.parquet"),
        ("nosuch://far/run", 'No FileSystem for scheme "nosuch"'),
        ("viewfs://elsewhere/runs", "expected a URI of a file system that this Spark can read"),
    ],
)
def test_places_where_nothing_can_be_judged(far: str, place: str, said: str) -> None:
    code, out, err = command(place, *OPTIONS)
    assert (code, out) == (2, "")
    assert err.startswith("onceproof: ")
    assert len(err.splitlines()) == 1
    assert said in err


def test_damage_is_told(far: str, disk: Path) -> None:
    bad = disk / "bad"
    HISTORY.save(bad)
    (bad / "log.parquet").write_text("junk")
    code, _, err = command(f"{far}/bad", *OPTIONS)
    assert code == 2
    assert "log.parquet: expected Parquet data" in err
    pq.write_table(HISTORY["log"].drop_columns(["kind"]), bad / "log.parquet")
    assert "log.parquet has no column kind" in command(f"{far}/bad", *OPTIONS)[2]
    twice = History.of(sends=[{"attempt": "a"}, {"attempt": "a"}])
    twice.save(bad)
    assert f"{far}/bad: sends.parquet has 2 rows for" in command(f"{far}/bad", *OPTIONS)[2]


def test_rows_that_cannot_be_read_are_no_traceback(far: str, disk: Path) -> None:
    torn = disk / "torn"
    HISTORY.save(torn)
    file = torn / "effects.parquet"
    whole = file.read_bytes()
    file.write_bytes(whole[:4] + b"\xff" * 400 + whole[404:])  # the end says that all is well
    code, _, err = command(f"{far}/torn", *OPTIONS, "--claim", "exactly-once:input->ledger@table")
    assert code in (2, 3)
    assert err.startswith(f"onceproof: {far}/torn")
    assert len(err.splitlines()) == 1


def test_runs_that_cannot_be_judged_from_afar(far: str, disk: Path) -> None:
    run = disk / "unfinished"
    run.mkdir()
    (run / "run.json").write_text("{")
    assert "unfinished/run.json is not JSON" in command(f"{far}/unfinished", *OPTIONS)[2]
    RECORD.model_copy(update={"claims": []}).save(run)
    assert "has no folder `history`" in command(f"{far}/unfinished", *OPTIONS)[2]
    (run / "history").mkdir()
    (run / "history" / "sends-1.jsonl").write_text("")
    code, _, err = command(f"{far}/unfinished", *OPTIONS)
    assert code == 2
    assert "did not finish. Copy it to this machine" in err
    code, _, err = command(f"{far}/unfinished", *OPTIONS, "--claim", "exactly-once:input")
    assert code == 2
    assert f"onceproof check {far}/unfinished/history --engine spark --claim" in err
