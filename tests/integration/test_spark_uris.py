"""Run folders on a remote file system, judged by Spark.

`viewfs` is Hadoop's virtual file system: its folders are mounted by configuration, so that its
paths do not exist locally.
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
SMALL_CLAIM = at_least_once("input", into="ledger", view="table")
"""A claim with few anomalies, because each takes seconds on Spark."""
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

pytestmark = [pytest.mark.timeout(900), LATER]


@pytest.fixture(scope="module")
def disk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The local folder that is mounted as `viewfs://far/runs`."""
    disk = tmp_path_factory.mktemp("disk")
    run = disk / "a run [7]"  # Spark would treat the brackets as a glob pattern
    run.mkdir()
    RECORD.model_copy(update={"claims": [claim_to_json(SMALL_CLAIM)], "schedule": []}).save(run)
    HISTORY.save(run / "history")
    (run / "history" / "limits.json").write_text('["the last line of x was cut short"]')
    seal_folder(run)
    return disk


@pytest.fixture(scope="module")
def remote_uri(disk: Path) -> Iterator[str]:
    """The URI of `disk`; the running Spark session has the mount."""
    from onceproof.checkers.engines.spark_session import spark_session

    mount_option = f"--conf spark.hadoop.fs.viewfs.mounttable.far.link./runs={disk.as_uri()}"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYSPARK_SUBMIT_ARGS", f"{mount_option} pyspark-shell")
        with spark_session(SPARK):
            yield "viewfs://far/runs"


def command(*arguments: str) -> tuple[int, str, str]:
    done = CliRunner().invoke(app, ["check", *arguments])
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.exit_code, done.stdout, done.stderr


def test_command_reads_file_uri(disk: Path) -> None:
    uri = f"file://{disk}/a run [7]"
    done = onceproof("check", uri, *OPTIONS)
    assert (done.code, done.err) == (1, "")
    assert "at-least-once input → ledger  violated" in done.out
    assert "lost-output: 1 finding" in done.out
    assert "the last line of x was cut short" in done.out
    assert not (disk / "a run [7]" / "report.json").exists()


def test_findings_match_local_copy(remote_uri: str) -> None:
    with open_folder(f"{remote_uri}/a run [7]/history", SPARK) as folder:
        history = History.load(folder)
        judgement = check(history, [CLAIM], SPARK)
        assert history.missing == ()
        assert {n: history.rows(n) for n in TABLES} == {n: HISTORY.rows(n) for n in TABLES}
        assert all(history[name].equals(HISTORY[name]) for name in TABLES)
    local = check(HISTORY, [CLAIM])
    assert judgement.claims == local.claims
    assert judgement.findings == local.findings
    assert judgement.claims[0].verdict is Verdict.VIOLATED
    assert judgement.mutation_check == local.mutation_check
    assert judgement.mutation_check
    assert all(mutation.found for mutation in judgement.mutation_check)


def test_judges_history_by_claims_of_the_command_line(remote_uri: str, tmp_path: Path) -> None:
    history = f"{remote_uri}/a run [7]/history"
    code, out, _ = command(history, *OPTIONS, "--claim", "at-most-once:input->ledger")
    assert (code, out.splitlines()[0]) == (0, f"{history}: 1 claim: 1 holds")
    written = tmp_path / "judgement.json"
    code, out, err = command(history, *OPTIONS, "--json", str(written))
    assert "exactly-once producers → input" in out  # a default claim: the history has its tables
    assert "lost-output" in written.read_text()
    assert err == f"judgement {written}\n"


def test_reads_partitioned_tables_without_optional_columns(remote_uri: str, disk: Path) -> None:
    parts = disk / "parts" / "sends.parquet"
    parts.mkdir(parents=True)
    sends = HISTORY["sends"].drop_columns(["error", "returned_at"])
    for number, part in enumerate((sends.slice(0, 2), sends.slice(2))):
        pq.write_table(part, parts / f"part-{number}.parquet")
    pq.write_table(HISTORY["log"], disk / "parts" / "log.parquet")
    with open_folder(f"{remote_uri}/parts", SPARK) as folder:
        history = History.load(folder)
        assert history.rows("sends") == 5
        assert history["sends"]["error"].null_count == 5
        assert "effects" in history.missing
        assert history.distinct("sends", ["topic"]) == {("input",)}
        assert history.distinct("sends", ["topic"], where_known="txn") == set()
        assert history.distinct("sends", ["error"]) == {(None,)}


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ("viewfs://far/runs/nowhere", "viewfs://far/runs/nowhere: there is no such folder"),
        ("viewfs://far/runs/a run [7]/run.json", "run.json: expected a folder, found a file"),
        ("viewfs://far/runs", "expected a run folder (with run.json) or one with *.parquet"),
        ("nosuch://far/run", 'No FileSystem for scheme "nosuch"'),
        ("viewfs://elsewhere/runs", "expected a URI of a file system that this Spark can read"),
    ],
)
def test_rejects_unreadable_places(remote_uri: str, place: str, message: str) -> None:
    code, out, err = command(place, *OPTIONS)
    assert (code, out) == (2, "")
    assert err.startswith("onceproof: ")
    assert len(err.splitlines()) == 1
    assert message in err


def test_reports_damaged_tables(remote_uri: str, disk: Path) -> None:
    bad = disk / "bad"
    HISTORY.save(bad)
    (bad / "log.parquet").write_text("junk")
    code, _, err = command(f"{remote_uri}/bad", *OPTIONS)
    assert code == 2
    assert "log.parquet: expected Parquet data" in err
    pq.write_table(HISTORY["log"].drop_columns(["kind"]), bad / "log.parquet")
    assert "log.parquet has no column kind" in command(f"{remote_uri}/bad", *OPTIONS)[2]
    duplicate_attempts = History.of(sends=[{"attempt": "a"}, {"attempt": "a"}])
    duplicate_attempts.save(bad)
    assert (
        f"{remote_uri}/bad: sends.parquet has 2 rows for"
        in command(f"{remote_uri}/bad", *OPTIONS)[2]
    )


def test_unreadable_rows_yield_one_line_error(remote_uri: str, disk: Path) -> None:
    torn = disk / "torn"
    HISTORY.save(torn)
    file = torn / "effects.parquet"
    content = file.read_bytes()
    file.write_bytes(content[:4] + b"\xff" * 400 + content[404:])  # the footer stays valid
    code, _, err = command(
        f"{remote_uri}/torn", *OPTIONS, "--claim", "exactly-once:input->ledger@table"
    )
    assert code in (2, 3)
    assert err.startswith(f"onceproof: {remote_uri}/torn")
    assert len(err.splitlines()) == 1


def test_rejects_unfinished_runs_at_uris(remote_uri: str, disk: Path) -> None:
    run = disk / "unfinished"
    run.mkdir()
    (run / "run.json").write_text("{")
    assert "unfinished/run.json is not JSON" in command(f"{remote_uri}/unfinished", *OPTIONS)[2]
    RECORD.model_copy(update={"claims": []}).save(run)
    assert "has no folder `history`" in command(f"{remote_uri}/unfinished", *OPTIONS)[2]
    (run / "history").mkdir()
    (run / "history" / "sends-1.jsonl").write_text("")
    code, _, err = command(f"{remote_uri}/unfinished", *OPTIONS)
    assert code == 2
    assert "did not finish. Copy it to this machine" in err
    code, _, err = command(f"{remote_uri}/unfinished", *OPTIONS, "--claim", "exactly-once:input")
    assert code == 2
    assert f"onceproof check {remote_uri}/unfinished/history --engine spark --claim" in err
