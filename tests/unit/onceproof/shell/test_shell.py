"""`onceproof shell`: questions to a run's tables, and that nothing of the run can be changed."""

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
from tests.unit.onceproof.run_folders import broken_off, finished


def ask(path: Path, *words: str, typed: str | None = None) -> tuple[int, str, str]:
    done = CliRunner().invoke(app, ["shell", str(path), *words], input=typed)
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.exit_code, done.stdout, done.stderr


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = finished(tmp_path_factory.mktemp("runs"))
    check_run(folder)
    return folder


def test_a_question_to_a_finished_run(run: Path) -> None:
    question = "select record, count(*) as n from effects group by all order by all"
    code, out, err = ask(run, "-c", question)
    assert (code, err) == (0, "")
    assert [line.split() for line in out.splitlines()] == [["record", "n"], ["a", "1"], ["b", "2"]]


def test_answers_for_programs(run: Path) -> None:
    question = 'select record, "offset", key from log order by all'
    code, out, _ = ask(run, "-c", question, "--format", "csv")
    assert code == 0
    assert list(csv.reader(io.StringIO(out)))[:2] == [["record", "offset", "key"], ["a", "0", ""]]
    code, out, _ = ask(run, "-c", question, "--format", "json")
    assert json.loads(out)[1] == {"record": "b", "offset": 1, "key": None}


def test_what_is_claimed_and_found_is_there(run: Path) -> None:
    code, out, _ = ask(run, "--format", "json", "-c", "from claims")
    assert code == 0
    assert json.loads(out)[0]["claim"] == "exactly-once payments → ledger"
    assert json.loads(out)[0]["verdict"] == "violated"
    (found,) = json.loads(ask(run, "--format", "json", "-c", "from findings")[1])
    assert found["anomaly"] == "duplicate-output"
    assert "b has 2 effects" in found["sentence"]


def test_what_the_checkers_derive_is_made_when_it_is_named(run: Path) -> None:
    question = "select distinct record from found_duplicate_output join outputs using (trial)"
    assert ask(run, "-c", question, "--format", "csv")[:2] == (0, "record\nb\n")
    listed = ask(run, "-c", ".relations")[1]
    assert all(name in listed for name in meanings())


def test_every_relation_can_be_asked_for(run: Path) -> None:
    questions = [f"select count(*) from {name}" for name in sorted(meanings())]
    code, _, err = ask(run, *(word for q in questions for word in ("-c", q)))
    assert (code, err) == (0, "")


def test_a_run_that_was_broken_off(tmp_path: Path) -> None:
    run = broken_off(tmp_path)
    before = {p: p.read_bytes() for p in run.rglob("*") if p.is_file()}
    question = "select attempt, outcome from sends order by all"
    code, out, err = ask(run, "-c", question, "--format", "csv")
    assert (code, out) == (0, "attempt,outcome\na0,ok\na1,info\na2,info\n")
    assert "the last line of producer-0.jsonl was cut short" in err
    assert f"onceproof check {run}" in err
    assert {p: p.read_bytes() for p in run.rglob("*") if p.is_file()} == before


def test_a_history_of_somebody_else(tmp_path: Path) -> None:
    History.of(sends=[{"record": "a"}], log=[{"record": "a"}]).save(tmp_path)
    assert ask(tmp_path, "-c", "select record from sends", "--format", "csv")[1] == "record\na\n"


@pytest.mark.parametrize(
    "question",
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
def test_what_is_no_question_is_refused(
    run: Path, question: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    code, _, err = ask(run, "-c", question)
    assert code == 2
    assert "is not a query" in err
    assert not any(tmp_path.iterdir())


def test_views_of_ones_own_live_in_memory(run: Path) -> None:
    questions = ("create view twice as select * from effects where record = 'b'", "from twice")
    code, out, _ = ask(run, "--format", "csv", *(w for q in questions for w in ("-c", q)))
    assert (code, out.count("ledger")) == (0, 2)


@pytest.mark.parametrize(
    ("question", "said"),
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
def test_a_wrong_question_says_what_would_be_right(run: Path, question: str, said: str) -> None:
    code, _, err = ask(run, "-c", question)
    assert code == 2
    assert said in err
    assert "Traceback" not in err


@pytest.mark.parametrize(
    ("name", "said"), [("nix", "does not exist"), ("", "is neither a run folder")]
)
def test_what_is_no_run(tmp_path: Path, name: str, said: str) -> None:
    code, _, err = ask(tmp_path / name, "-c", "from sends")
    assert code == 2
    assert said in err
    assert "give a" in err.lower()


def test_questions_from_a_pipe(run: Path) -> None:
    typed = ".format csv\nselect count(*) as n\nfrom effects;\n\nnonsense;\nselect 7 as seven"
    code, out, err = ask(run, typed=typed)
    assert out == "n\n3\nseven\n7\n"
    assert code == 2
    assert "syntax error" in err


def test_a_table_shows_so_many_rows(run: Path) -> None:
    out = ask(run, "-c", ".rows 2", "-c", "from range(5)")[1]
    assert [line.strip() for line in out.splitlines()] == [
        "range",
        "0",
        "1",
        "and 3 more rows: `.rows N` shows more",
    ]


def test_nothing_of_a_history_reaches_the_terminal_as_a_command(tmp_path: Path) -> None:
    History.of(sends=[{"record": "\x1b[2Jgone"}]).save(tmp_path)
    assert "\x1b" not in ask(tmp_path, "-c", "select record from sends")[1]


def test_at_a_terminal_arrow_keys_bring_back_what_was_asked_and_ctrl_c_never_leaves(
    run: Path, tmp_path: Path
) -> None:
    leader, follower = pty.openpty()
    environ = {**os.environ, "XDG_STATE_HOME": str(tmp_path), "TERM": "xterm", "NO_COLOR": "1"}
    shell = subprocess.Popen(
        [sys.executable, "-m", "onceproof", "shell", str(run)],
        stdin=follower, stdout=follower, stderr=follower, env=environ, start_new_session=True,
    )  # fmt: skip
    os.close(follower)
    seen = ""

    def until(pattern: str, *, again: Callable[[], None] = lambda: None) -> None:
        nonlocal seen
        deadline = time.monotonic() + 120
        while not re.search(pattern, seen, re.DOTALL):
            assert time.monotonic() < deadline, f"waited for {pattern!r}, saw {seen!r}"
            if select.select([leader], [], [], 5)[0]:
                seen += os.read(leader, 65536).decode(errors="ignore")
            else:
                again()

    def interrupt() -> None:
        shell.send_signal(signal.SIGINT)

    try:
        until(r"\.tables.*onceproof> ")
        os.write(leader, b"select 6 * 7\nas answer;\n")
        until(r"answer.*42.*onceproof> $")
        seen = ""
        os.write(leader, b"\x1b[A\n")
        until(r"select 6 \* 7 as answer;.*42.*onceproof> $")
        os.write(leader, b"select oops")
        until(r"select oops")
        # Between echoing a key and waiting for the next one, Python's readline does not hear a
        # signal until there is a key or another signal: who is not heard presses again.
        interrupt()
        until(r"\^C\r\n.*onceproof> $", again=interrupt)
        seen = ""
        os.write(leader, b"select 'still' || 'here';\n")
        until(r"stillhere.*onceproof> $")
        os.write(leader, b"\x04")
        assert shell.wait(60) == 0
    finally:
        shell.kill()
        shell.wait(60)
        os.close(leader)
    assert "select 6 * 7 as answer;" in (tmp_path / "onceproof" / "shell-history").read_text()


def test_the_questions_of_the_how_to_are_answered(run: Path) -> None:
    page = Path(__file__).parents[4] / "docs" / "how-to" / "ask-a-run.md"
    questions = re.findall(r"```sql\n(.*?)```", page.read_text(), re.DOTALL)
    assert len(questions) == 4
    code, out, err = ask(run, *(word for q in questions for word in ("-c", q)))
    assert (code, err) == (0, "")
    assert re.search(r"b +2 ", out)


def test_a_terminal_that_goes_away_ends_it_quietly(run: Path, tmp_path: Path) -> None:
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
