"""Jobs side by side: concurrency, time limits and cleaning up."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from onceproof.harness.processes.processes import MARKER
from onceproof.harness.processes.side_by_side import Ended, Job, children, side_by_side
from onceproof.harness.processes.watchdog import Watchdog
from onceproof.harness.wait import Stop, wait_until

SECONDS = 60.0
FOREVER = "import time\nwhile True: time.sleep(60)"
POLITE = f"""
import signal, sys
signal.signal(signal.SIGTERM, lambda *_: sys.exit(130))
print("up", flush=True)
{FOREVER}
"""
DEAF = ("sh", "-c", "trap '' TERM; while :; do sleep 60; done")


def job(name: str, program: str, seconds: float = SECONDS) -> Job:
    return Job(name=name, command=(sys.executable, "-c", program), seconds=seconds)


class Listener:
    """Runs jobs and records their starts and ends."""

    def __init__(self, folder: Path, stop: Stop | None = None) -> None:
        self.folder, self.stop = folder, stop or Stop()
        self.started: list[str] = []
        self.ended: dict[str, Ended] = {}
        self.most_at_once = 0

    def run(self, *jobs: Job, at_once: int = 2) -> dict[str, Ended]:
        with children(self.folder) as processes:
            side_by_side(
                jobs,
                at_once=at_once,
                processes=processes,
                stop=self.stop,
                started=self._started,
                ended=self._ended,
            )
            assert all(process.popen.poll() is not None for process in processes.all)
        return self.ended

    def _started(self, job: Job) -> None:
        self.started.append(job.name)
        self.most_at_once = max(self.most_at_once, len(self.started) - len(self.ended))

    def _ended(self, ended: Ended) -> None:
        self.ended[ended.job.name] = ended


def test_failed_jobs_do_not_stop_the_others(tmp_path: Path) -> None:
    listener = Listener(tmp_path / "logs")
    ended = listener.run(
        job("well", "print('said')"),
        job("badly", "raise SystemExit(3)"),
        job("killed", "import os; os.kill(os.getpid(), 9)"),
        job("last", "print('also')"),
    )
    assert {name: e.code for name, e in ended.items()} == {
        "well": 0,
        "badly": 3,
        "killed": -9,
        "last": 0,
    }
    assert listener.started == ["well", "badly", "killed", "last"]
    assert listener.most_at_once == 2
    assert ended["last"].log.read_text() == "also\n"
    assert not any(e.overdue for e in ended.values())


def test_at_once_limits_concurrent_jobs(tmp_path: Path) -> None:
    listener = Listener(tmp_path)
    listener.run(job("a", "0"), job("b", "0"), at_once=1)
    assert listener.most_at_once == 1


def test_overdue_job_is_terminated(tmp_path: Path) -> None:
    ended = Listener(tmp_path).run(job("slow", FOREVER, seconds=0.3), job("quick", "0"))
    assert (ended["slow"].code, ended["slow"].overdue) == (-signal.SIGTERM, True)
    assert (ended["quick"].code, ended["quick"].overdue) == (0, False)


def test_overdue_job_that_ignores_sigterm_is_killed(tmp_path: Path) -> None:
    # Three seconds are enough for the shell to set its trap.
    deaf = Job(name="deaf", command=DEAF, seconds=3, ending=0.3)
    ended = Listener(tmp_path).run(deaf)
    assert (ended["deaf"].code, ended["deaf"].overdue) == (-signal.SIGKILL, True)


_WITH_REAPER = f"""
import os, signal, subprocess, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
reaper = (
    "import os, sys, time\\n"
    "print('up', flush=True)\\n"
    "while os.getppid() == int(sys.argv[2]): time.sleep(0.01)\\n"
    "time.sleep(1)\\n"
    "open(sys.argv[1], 'w').write('cleared up')"
)
command = [sys.executable, "-c", reaper, sys.argv[1], str(os.getpid())]
environ = {{n: v for n, v in os.environ.items() if n != {MARKER!r}}}
subprocess.Popen(command, start_new_session=True, env=environ)
{FOREVER}
"""


def test_waits_for_the_reaper_of_a_killed_job(tmp_path: Path) -> None:
    file, stop = tmp_path / "file", Stop()

    class Stopping(Listener):
        def _started(self, job: Job) -> None:
            super()._started(job)
            log = self.folder / f"{job.name}.1.log"
            wait_until(lambda: log.read_text() == "up\n", what="it to be up", seconds=SECONDS)
            stop.set("told to")

    command = (sys.executable, "-c", _WITH_REAPER, str(file))
    run = Job(name="run", command=command, seconds=SECONDS, ending=0.3)
    assert Stopping(tmp_path, stop).run(run)["run"].code == -signal.SIGKILL
    assert file.read_text() == "cleared up"


def test_error_in_a_callback_terminates_running_jobs(tmp_path: Path) -> None:
    class Failing(Listener):
        def _started(self, job: Job) -> None:
            super()._started(job)
            log = self.folder / f"{job.name}.1.log"
            if job.name == "polite":
                wait_until(lambda: log.read_text() == "up\n", what="it to be up", seconds=SECONDS)

        def _ended(self, ended: Ended) -> None:
            raise OSError("the page cannot be written")

    listener = Failing(tmp_path)
    with children(tmp_path) as processes, pytest.raises(OSError, match="page"):
        side_by_side(
            [job("polite", POLITE), job("quick", "0")],
            at_once=2, processes=processes, stop=Stop(),
            started=listener._started, ended=listener._ended,
        )  # fmt: skip
    (polite,) = (p for p in processes.all if p.instance.startswith("polite"))
    assert polite.popen.returncode == 130


def test_stop_terminates_running_jobs_and_starts_no_more(tmp_path: Path) -> None:
    stop = Stop()

    class Stopping(Listener):
        def _started(self, job: Job) -> None:
            super()._started(job)
            log = self.folder / f"{job.name}.1.log"
            wait_until(lambda: log.read_text() == "up\n", what="it to be up", seconds=SECONDS)
            if len(self.started) == 2:
                stop.set("told to")

    listener = Stopping(tmp_path, stop)
    ended = listener.run(job("a", POLITE), job("b", POLITE), job("never", "0"))
    assert {name: e.code for name, e in ended.items()} == {"a": 130, "b": 130}
    assert listener.started == ["a", "b"]


_PARENT = f"""
import sys
from pathlib import Path
from onceproof.harness.processes.side_by_side import Job, children, side_by_side
from onceproof.harness.wait import Stop
with children(Path(sys.argv[1])) as processes:
    side_by_side(
        [Job(name="child", command=(sys.executable, "-c", {FOREVER!r}), seconds=600)],
        at_once=1, processes=processes, stop=Stop(),
        started=lambda _: print(processes.all[0].popen.pid, flush=True), ended=print,
    )
"""


def test_jobs_end_when_the_parent_is_killed(tmp_path: Path) -> None:
    parent = subprocess.Popen(
        [sys.executable, "-c", _PARENT, str(tmp_path)], stdout=subprocess.PIPE, text=True
    )
    assert parent.stdout is not None
    child = psutil.Process(int(parent.stdout.readline()))
    assert child.is_running()
    parent.kill()
    parent.wait()
    wait_until(
        lambda: not child.is_running() or child.status() == psutil.STATUS_ZOMBIE,
        what="the child to end",
        seconds=SECONDS,
    )


def test_reaper_does_not_inherit_the_marker_of_an_outer_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(MARKER, "a-matrix")
    known = {child.pid for child in psutil.Process().children()}
    watchdog = Watchdog("a-run", log=tmp_path / "log")
    (reaper,) = [c for c in psutil.Process().children() if c.pid not in known]
    try:
        wait_until(
            lambda: "a-run" in reaper.cmdline(), what="the reaper to be there", seconds=SECONDS
        )
        assert MARKER not in reaper.environ()
    finally:
        watchdog.release()
    assert os.environ[MARKER] == "a-matrix"
