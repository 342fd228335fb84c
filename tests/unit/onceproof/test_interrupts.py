"""Interrupted judging prints a message without traceback, and leaves no files."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from onceproof.checkers.engines.temporary import temporary_folder
from tests.end_to_end.command import onceproof
from tests.unit.onceproof.run_folders import finished

_JUDGING = """
from onceproof.checkers.engines.parallel import run_interruptibly, workers
from onceproof.checkers.engines.duckdb import DuckDB
from onceproof.checkers.engines.settings import Settings
from onceproof.interrupts import breaking_off, interruptible

forever = "SELECT count(*) AS n FROM range(1000000000000) a(i) WHERE a.i % 7 = 8"
def ask():
    with workers(database) as pool:
        pool.submit(lambda: database.rows(forever))
        database.rows(forever)

with interruptible(), breaking_off("thinking. Think again."):
    database = DuckDB(Settings(threads=THREADS))
    try:
        print("begun", flush=True)
        run_interruptibly(database, ask)
    finally:
        database.close()
"""


@contextmanager
def _judging(
    temporary: Path, threads: int | None = None, ignored: Iterable[int] = ()
) -> Iterator[subprocess.Popen[str]]:
    def set_signal_handlers() -> None:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN if number in ignored else signal.SIG_DFL)

    with subprocess.Popen(
        [sys.executable, "-c", _JUDGING.replace("THREADS", repr(threads))],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=set_signal_handlers,  # noqa: PLW1509 (no threads here)
        env={**os.environ, "TMPDIR": str(temporary)},
    ) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "begun\n"
            yield process
        finally:
            process.kill()


@pytest.mark.parametrize("threads", [None, 1])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signal_prints_message_and_leaves_no_files(
    number: signal.Signals, threads: int | None, tmp_path: Path
) -> None:
    with _judging(tmp_path, threads) as process:
        process.send_signal(number)
        _, stderr = process.communicate(timeout=60)
    assert stderr == "onceproof: interrupted while thinking. Think again.\n"
    assert process.returncode == 130
    assert list(tmp_path.iterdir()) == []


def test_background_job_handles_sigint_but_keeps_sighup_ignored(tmp_path: Path) -> None:
    with _judging(tmp_path, ignored=(signal.SIGINT, signal.SIGHUP)) as process:
        status = Path("/proc", str(process.pid), "status").read_text()
        (mask,) = (line.split()[1] for line in status.splitlines() if line.startswith("SigIgn"))
        ignored = {n for n in signal.valid_signals() if int(mask, 16) >> (n - 1) & 1}
        assert signal.SIGHUP in ignored
        assert signal.SIGINT not in ignored
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 130


def test_files_of_killed_process_are_removed_by_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with temporary_folder() as held, _judging(tmp_path) as process:
        process.kill()
        process.wait(60)
        remaining = set(tmp_path.iterdir())
        assert len(remaining) == 2
        with temporary_folder() as another:
            assert set(tmp_path.iterdir()) == {held, another}
    assert list(tmp_path.iterdir()) == []


_FINISHED_RUN = """
import sys
from pathlib import Path

import onceproof.checkers.judging
import onceproof.outcome
from onceproof.harness.history.folder import RunFolder
from onceproof.harness.tools.setup import Tools
from onceproof import running
from onceproof.commands import run, soak
from onceproof.interrupts import interruptible

class Recorded:  # a run that has recorded everything
    def __init__(self, *_, stop, **__):
        self.stop, self.folder = stop, RunFolder(Path(sys.argv[1]))
    def execute(self):
        with self.stop.in_order():
            pass

def judges(layer, trials):
    print("begun", flush=True)
    return layer.rows("SELECT count(*) AS n FROM range(1000000000000) a(i) WHERE a.i % 7 = 8")

def writes(*_):
    print("begun", flush=True)
    while True:
        pass

running.Run = Recorded
tools = Tools(java_home=Path(), spark_kafka_jars=(), stage=None)
run.prepared_for = soak.prepared_for = lambda *_: lambda _: tools
if sys.argv[2] == "judges":
    onceproof.checkers.judging.choose = judges
else:
    onceproof.outcome.write = writes
scenarios, out = ["control-idle-crash"] * 2, Path(sys.argv[1]).parent
with interruptible():
    if sys.argv[3] == "run":
        sys.exit(run.run(scenarios, seed=1, out=out))
    sys.exit(soak.soak(scenarios, runs=2, seed=1, out=out, least_free=0))
"""


@pytest.mark.parametrize(
    ("command", "activity", "number"),
    [  # each pair of two
        ("run", "judges", signal.SIGINT),
        ("run", "writes", signal.SIGTERM),
        ("soak", "judges", signal.SIGTERM),
        ("soak", "writes", signal.SIGINT),
    ],
)
def test_run_can_be_judged_after_interrupted_judging(
    number: signal.Signals, activity: str, command: str, tmp_path: Path
) -> None:
    folder = finished(tmp_path)
    with subprocess.Popen(
        [sys.executable, "-c", _FINISHED_RUN, folder, activity, command],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "begun\n"
        process.send_signal(number)
        _, stderr = process.communicate(timeout=60)
    assert process.returncode == 130
    assert (
        f"onceproof: interrupted while judging {folder}; its history is unchanged: "
        f"`onceproof check {folder}` judges it.\n" in stderr
    )
    assert "Traceback" not in stderr
    assert onceproof("check", folder).verdicts()


def test_signal_during_import_is_reported(tmp_path: Path) -> None:
    (tmp_path / "typer").mkdir()
    module = tmp_path / "typer" / "__init__.py"
    module.write_text("import signal\nsignal.raise_signal(signal.SIGTERM)\n")
    done = subprocess.run(
        [sys.executable, "-m", "onceproof", "list"],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        check=False,
    )
    assert (done.returncode, done.stderr) == (130, "onceproof: interrupted\n")
