"""`onceproof shell`: read-only queries on the tables of a run."""

from __future__ import annotations

import csv
import io
import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from onceproof.checkers import History
from onceproof.cli import app
from onceproof.outcome import check_run
from onceproof.shell.relations import meanings
from tests.unit.onceproof.run_folders import finished, interrupted


def run_shell(path: Path, *words: str, stdin: str | None = None) -> tuple[int, str, str]:
    done = CliRunner().invoke(app, ["shell", str(path), *words], input=stdin)
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.exit_code, done.stdout, done.stderr


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = finished(tmp_path_factory.mktemp("runs"))
    check_run(folder)
    return folder


def test_query_prints_a_table(run: Path) -> None:
    query = "select record, count(*) as n from effects group by all order by all"
    code, out, err = run_shell(run, "-c", query)
    assert (code, err) == (0, "")
    assert [line.split() for line in out.splitlines()] == [["record", "n"], ["a", "1"], ["b", "2"]]


def test_results_as_csv_and_json(run: Path) -> None:
    query = 'select record, "offset", key from log order by all'
    code, out, _ = run_shell(run, "-c", query, "--format", "csv")
    assert code == 0
    assert list(csv.reader(io.StringIO(out)))[:2] == [["record", "offset", "key"], ["a", "0", ""]]
    code, out, _ = run_shell(run, "-c", query, "--format", "json")
    assert json.loads(out)[1] == {"record": "b", "offset": 1, "key": None}


def test_claims_and_findings_can_be_queried(run: Path) -> None:
    code, out, _ = run_shell(run, "--format", "json", "-c", "from claims")
    assert code == 0
    assert json.loads(out)[0]["claim"] == "exactly-once payments → ledger"
    assert json.loads(out)[0]["verdict"] == "violated"
    (found,) = json.loads(run_shell(run, "--format", "json", "-c", "from findings")[1])
    assert found["anomaly"] == "duplicate-output"
    assert "b has 2 effects" in found["sentence"]


def test_derived_relations_are_built_on_demand(run: Path) -> None:
    query = "select distinct record from found_duplicate_output join outputs using (trial)"
    assert run_shell(run, "-c", query, "--format", "csv")[:2] == (0, "record\nb\n")
    listed = run_shell(run, "-c", ".relations")[1]
    assert all(name in listed for name in meanings())


def test_every_relation_can_be_queried(run: Path) -> None:
    queries = [f"select count(*) from {name}" for name in sorted(meanings())]
    code, _, err = run_shell(run, *(word for q in queries for word in ("-c", q)))
    assert (code, err) == (0, "")


def test_interrupted_run_is_read_but_not_changed(tmp_path: Path) -> None:
    run = interrupted(tmp_path)
    before = {p: p.read_bytes() for p in run.rglob("*") if p.is_file()}
    query = "select attempt, outcome from sends order by all"
    code, out, err = run_shell(run, "-c", query, "--format", "csv")
    assert (code, out) == (0, "attempt,outcome\na0,ok\na1,info\na2,info\n")
    assert "the last line of producer-0.jsonl was cut short" in err
    assert f"onceproof check {run}" in err
    assert {p: p.read_bytes() for p in run.rglob("*") if p.is_file()} == before


def test_history_without_run_can_be_queried(tmp_path: Path) -> None:
    History.of(sends=[{"record": "a"}], log=[{"record": "a"}]).save(tmp_path)
    assert (
        run_shell(tmp_path, "-c", "select record from sends", "--format", "csv")[1] == "record\na\n"
    )


@pytest.mark.parametrize(
    "query",
    [
        "copy sends to 'stolen.csv'",
        "drop view sends",
        "insert into log values (1)",
        "attach 'other.db'",
        "export database 'there'",
        "install httpfs",
        "set threads = 1",
        "create secret s (type s3)",
        "explain analyze copy sends to 'stolen.csv'",
        "select 1; copy sends to 'stolen.csv'",
    ],
)
def test_only_queries_are_allowed(
    run: Path, query: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    code, _, err = run_shell(run, "-c", query)
    assert code == 2
    assert "is not a query" in err
    assert not any(tmp_path.iterdir())


def test_views_can_be_created_in_memory(run: Path) -> None:
    queries = ("create view twice as select * from effects where record = 'b'", "from twice")
    code, out, _ = run_shell(run, "--format", "csv", *(w for q in queries for w in ("-c", q)))
    assert (code, out.count("ledger")) == (0, 2)


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("select * from snds", 'Did you mean "sends"? `.tables` and `.relations` list all.'),
        ("selec 1", "syntax error"),
        ("select nothing from sends", "nothing"),
        ("select offset from log", 'in double quotes, such as "offset".'),
        (".table", "there is no .table. Did you mean .tables?"),
        (".zzz", "`.help` lists all."),
        (".columns", "expected .columns TABLE"),
        (".columns effect", "Did you mean effects?"),
        (".format xml", "expected .format table|csv|json"),
    ],
)
def test_wrong_query_is_explained(run: Path, query: str, message: str) -> None:
    code, _, err = run_shell(run, "-c", query)
    assert code == 2
    assert message in err
    assert "Traceback" not in err


@pytest.mark.parametrize(
    ("name", "message"), [("nix", "does not exist"), ("", "is neither a run folder")]
)
def test_path_without_run_is_refused(tmp_path: Path, name: str, message: str) -> None:
    code, _, err = run_shell(tmp_path / name, "-c", "from sends")
    assert code == 2
    assert message in err
    assert "give a" in err.lower()


def test_queries_are_read_from_stdin(run: Path) -> None:
    stdin = ".format csv\nselect count(*) as n\nfrom effects;\n\nnonsense;\nselect 7 as seven"
    code, out, err = run_shell(run, stdin=stdin)
    assert out == "n\n3\nseven\n7\n"
    assert code == 2
    assert "syntax error" in err


def test_rows_command_limits_the_table(run: Path) -> None:
    out = run_shell(run, "-c", ".rows 2", "-c", "from range(5)")[1]
    assert [line.strip() for line in out.splitlines()] == [
        "range",
        "0",
        "1",
        "and 3 more rows: `.rows N` shows more",
    ]


def test_escape_sequences_are_not_printed(tmp_path: Path) -> None:
    History.of(sends=[{"record": "\x1b[2Jgone"}]).save(tmp_path)
    assert "\x1b" not in run_shell(tmp_path, "-c", "select record from sends")[1]


def test_terminal_recalls_queries_and_survives_ctrl_c(run: Path, tmp_path: Path) -> None:
    leader, follower = pty.openpty()
    environ = {**os.environ, "XDG_STATE_HOME": str(tmp_path), "TERM": "xterm", "NO_COLOR": "1"}
    shell = subprocess.Popen(
        [sys.executable, "-m", "onceproof", "shell", str(run)],
        stdin=follower, stdout=follower, stderr=follower, env=environ, start_new_session=True,
    )  # fmt: skip
    os.close(follower)
    seen = ""

    def wait_for(pattern: str, *, retry: Callable[[], None] = lambda: None) -> None:
        nonlocal seen
        deadline = time.monotonic() + 120
        while not re.search(pattern, seen, re.DOTALL):
            assert time.monotonic() < deadline, f"waited for {pattern!r}, saw {seen!r}"
            if select.select([leader], [], [], 5)[0]:
                seen += os.read(leader, 65536).decode(errors="ignore")
            else:
                retry()

    def interrupt() -> None:
        shell.send_signal(signal.SIGINT)

    try:
        wait_for(r"\.tables.*onceproof> ")
        os.write(leader, b"select 6 * 7\nas answer;\n")
        wait_for(r"answer.*42.*onceproof> $")
        seen = ""
        os.write(leader, b"\x1b[A\n")
        wait_for(r"select 6 \* 7 as answer;.*42.*onceproof> $")
        os.write(leader, b"select oops")
        wait_for(r"select oops")
        # Between echoing a key and waiting for the next, Python's readline handles a signal only
        # when another key or signal arrives, so the interrupt is repeated.
        interrupt()
        wait_for(r"\^C\r\n.*onceproof> $", retry=interrupt)
        seen = ""
        os.write(leader, b"select 'still' || 'here';\n")
        wait_for(r"stillhere.*onceproof> $")
        os.write(leader, b"\x04")
        assert shell.wait(60) == 0
    finally:
        shell.kill()
        shell.wait(60)
        os.close(leader)
    assert "select 6 * 7 as answer;" in (tmp_path / "onceproof" / "shell-history").read_text()


def test_queries_of_the_how_to_succeed(run: Path) -> None:
    page = Path(__file__).parents[4] / "docs" / "how-to" / "ask-a-run.md"
    queries = re.findall(r"```sql\n(.*?)```", page.read_text(), re.DOTALL)
    assert len(queries) == 4
    code, out, err = run_shell(run, *(word for q in queries for word in ("-c", q)))
    assert (code, err) == (0, "")
    assert re.search(r"b +2 ", out)


def test_closed_terminal_ends_shell_without_error(run: Path, tmp_path: Path) -> None:
    leader, follower = pty.openpty()
    environ = {**os.environ, "XDG_STATE_HOME": str(tmp_path), "TMPDIR": str(tmp_path)}
    shell = subprocess.Popen(
        [sys.executable, "-m", "onceproof", "shell", str(run)],
        stdin=follower, stdout=follower, stderr=follower, env=environ, start_new_session=True,
    )  # fmt: skip
    os.close(follower)
    try:
        seen, deadline = "", time.monotonic() + 120
        while "onceproof> " not in seen:
            assert time.monotonic() < deadline, f"saw {seen!r}"
            if select.select([leader], [], [], 1)[0]:
                seen += os.read(leader, 65536).decode(errors="ignore")
        os.close(leader)
        assert shell.wait(120) == 0
        assert list(tmp_path.glob("onceproof-mistake-*")) == []
    finally:
        shell.kill()
        shell.wait(60)
