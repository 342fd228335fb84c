"""How processes of a dead harness are ended: by the watchdog's reaper or a later sweep.

These tests end only processes with markers made here, not those of other runs on this machine.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import psutil
import pytest

from onceproof.harness.processes import reaper, sweep
from onceproof.harness.processes.processes import MARKER
from onceproof.harness.processes.sweep import find_leftovers, new_marker
from onceproof.harness.stage import docker_reaper
from onceproof.harness.wait import Overdue, wait_until

PYTHON = [sys.executable, "-I", "-S", "-c"]


def alive(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def wait_gone(pids: list[int]) -> None:
    wait_until(
        lambda: not any(map(alive, pids)), what=f"{pids} to be gone", seconds=20,
        seen=lambda: [p for p in pids if alive(p)],
    )  # fmt: skip


HARNESS = """
import json, os, sys
from pathlib import Path
from onceproof.harness.links.blocks import take_block
from onceproof.harness.processes.processes import Processes
from onceproof.harness.processes.sweep import new_marker
from onceproof.harness.wait import wait_until
from onceproof.harness.processes.watchdog import Watchdog

folder = Path(sys.argv[1])
marker, block = new_marker(), take_block()
watchdog = None
if sys.argv[2] == "watched":
    watchdog = Watchdog(
        marker, log=folder / "reaper.log", holds=[block.fileno()], remove=[folder / "work"]
    )
processes = Processes(marker, folder)
python = [sys.executable, "-I", "-S", "-c"]
stubborn = (
    "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN);"
    "print('ready', flush=True); time.sleep(600)"
)
daemon = (
    "import os, time, sys\\n"
    "if os.fork() == 0: os.setsid()\\n"
    "print('ready', os.getpid(), flush=True); time.sleep(600)"
)
# Marked, but its own child is not: only the session holds the two together.
scrubbed = (
    "import subprocess; p = subprocess.Popen(['sleep', '600'], env={});"
    "print('ready', p.pid, flush=True); p.wait()"
)
children = [processes.start(n, [*python, p]) for n, p in
            {"stubborn": stubborn, "daemon": daemon, "scrubbed": scrubbed}.items()]
wait_until(
    lambda: [c.tail().count("ready") for c in children] == [1, 2, 1], what="children", seconds=20
)
pids = {c.session for c in children}
pids |= {int(w) for c in children for w in c.tail().split() if w.isdigit()}
print(json.dumps({
    "marker": marker, "pids": sorted(pids), "block": block.number,
    "reaper": watchdog._popen.pid if watchdog else None,
}), flush=True)
if sys.stdin.readline() == "release\\n":
    processes.all.pop().kill("torn down")
    watchdog.release()
    print("released", flush=True)
    sys.stdin.readline()
"""


@dataclass
class Harness:
    popen: subprocess.Popen[str]
    folder: Path
    report: dict[str, Any]

    @property
    def pids(self) -> list[int]:
        return list(self.report["pids"])


@pytest.fixture
def harness(tmp_path: Path) -> Iterator[Callable[..., Harness]]:
    """Start a harness with three children: five processes in four sessions."""
    made: list[Harness] = []

    def begin(kind: str = "watched") -> Harness:
        (tmp_path / "work" / "deep").mkdir(parents=True)
        popen = subprocess.Popen(
            [sys.executable, "-c", HARNESS, str(tmp_path), kind],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[4])},
        )
        assert popen.stdout is not None
        line = popen.stdout.readline()
        assert line, "the harness of this test did not come up"
        made.append(Harness(popen, tmp_path, json.loads(line)))
        assert len(made[-1].pids) == 5
        assert all(map(alive, made[-1].pids))
        return made[-1]

    yield begin
    for one in made:
        one.popen.kill()
        one.popen.communicate()
        for pid in one.pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def block_is_free(number: int) -> bool:
    with socket.socket(socket.AF_UNIX) as probe:
        try:
            probe.bind(f"\0onceproof/block/{number}")
        except OSError:
            return False
    return True


def test_sigkill_of_the_harness_leaves_nothing(harness: Callable[..., Harness]) -> None:
    run = harness()
    os.kill(run.pids[0], signal.SIGSTOP)  # like a paused broker
    run.popen.kill()
    wait_gone(run.pids)
    wait_until(lambda: not (run.folder / "work").exists(), what="no folder", seconds=20)
    wait_gone([run.report["reaper"]])
    log = (run.folder / "reaper.log").read_text()
    assert f"the harness of run {run.report['marker']} has exited" in log
    for pid in run.pids:
        assert str(pid) in log


def test_block_is_held_until_all_processes_are_gone(harness: Callable[..., Harness]) -> None:
    run = harness()
    os.kill(run.report["reaper"], signal.SIGSTOP)
    try:
        run.popen.kill()
        run.popen.wait()
        assert not block_is_free(run.report["block"])
        assert all(map(alive, run.pids))
    finally:
        os.kill(run.report["reaper"], signal.SIGCONT)
    wait_gone([*run.pids, run.report["reaper"]])
    assert block_is_free(run.report["block"])


def test_reaper_ignores_interrupts(harness: Callable[..., Harness]) -> None:
    run = harness()
    wait_until(
        lambda: "SigIgn" in Path(f"/proc/{run.report['reaper']}/status").read_text(),
        what="the reaper", seconds=20,
    )  # fmt: skip

    def ignored() -> int:
        status = Path(f"/proc/{run.report['reaper']}/status").read_text()
        return int(status.partition("SigIgn:")[2].split()[0], 16)

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        wait_until(lambda n=number: ignored() >> (n - 1) & 1, what=f"{number} ignored", seconds=20)
        os.kill(run.report["reaper"], number)
    assert alive(run.report["reaper"])
    # It has its own session, so Ctrl-C in a terminal does not reach it either.
    assert os.getsid(run.report["reaper"]) == run.report["reaper"]


def test_nothing_is_ended_while_the_harness_lives(harness: Callable[..., Harness]) -> None:
    run = harness()
    assert not block_is_free(run.report["block"])
    assert (run.folder / "work").exists()
    assert run.report["marker"] not in {left.marker for left in find_leftovers()}
    assert all(map(alive, run.pids))


def test_release_ends_remaining_processes(harness: Callable[..., Harness]) -> None:
    run = harness()
    assert run.popen.stdin is not None
    assert run.popen.stdout is not None
    run.popen.stdin.write("release\n")
    run.popen.stdin.flush()
    assert run.popen.stdout.readline() == "released\n"
    # All done once `release` returns; the harness itself lives on.
    assert not any(map(alive, [*run.pids, run.report["reaper"]]))
    assert not (run.folder / "work").exists()
    assert run.popen.poll() is None


def test_reaper_logs_nothing_if_nothing_is_left(tmp_path: Path) -> None:
    from onceproof.harness.processes.watchdog import Watchdog

    watchdog = Watchdog(new_marker(), log=tmp_path / "log", holds=[], remove=[tmp_path / "none"])
    watchdog.release()
    assert (tmp_path / "log").read_text() == ""


def test_release_tolerates_a_killed_reaper(tmp_path: Path) -> None:
    from onceproof.harness.processes.watchdog import Watchdog

    watchdog = Watchdog(new_marker(), log=tmp_path / "log", holds=[], remove=[])
    watchdog._popen.kill()
    watchdog._popen.wait()
    watchdog.release()


@pytest.mark.parametrize("module", [reaper, docker_reaper])
def test_reaper_needs_only_the_standard_library(module: ModuleType) -> None:
    """Without `site`, no other package can be imported, not even this one."""
    from onceproof.harness.processes.watchdog import _program

    code = _program(module).replace("it.main()", "print(it.__name__)")
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, timeout=60
    )
    assert (done.stdout.strip(), done.stderr) == (module.__name__, "")


# Reaping, in this process.


@pytest.fixture
def begin() -> Iterator[Callable[..., subprocess.Popen[bytes]]]:
    started: list[subprocess.Popen[bytes]] = []

    def run(marker: str, arguments: list[str], **more: Any) -> subprocess.Popen[bytes]:
        popen = subprocess.Popen(
            arguments, env={**os.environ, MARKER: marker}, start_new_session=True,
            stdout=subprocess.PIPE, preexec_fn=restore_sigquit, **more,  # noqa: PLW1509 (no threads here)
        )  # fmt: skip
        started.append(popen)
        assert popen.stdout is not None
        assert popen.stdout.readline() == b"ready\n"
        return popen

    yield run
    for popen in started:
        popen.kill()
        popen.communicate()


def restore_sigquit() -> None:
    """Shells start background jobs with SIGQUIT ignored, which their children inherit."""
    signal.signal(signal.SIGQUIT, signal.SIG_DFL)


Begin = Callable[..., "subprocess.Popen[bytes]"]
WAITING = "print('ready', flush=True); import time; time.sleep(600)"


def test_reap_matches_the_exact_marker(begin: Begin) -> None:
    marker = new_marker()
    mine, longer, other = (
        begin(m, [*PYTHON, WAITING]) for m in (marker, f"{marker}0", new_marker())
    )
    assert reaper.marked(marker) == [mine.pid]
    assert reaper.reap(marker) == [mine.pid]
    assert mine.wait(20) == -signal.SIGKILL
    assert longer.poll() is None
    assert other.poll() is None


def test_second_reap_finds_nothing(begin: Begin) -> None:
    marker = new_marker()
    begin(marker, [*PYTHON, WAITING])
    assert len(reaper.reap(marker)) == 1
    assert reaper.reap(marker) == []


# A shell that looks like PostgreSQL and notes that SIGQUIT has ended it.
POSTMASTER = 'trap "echo asked >asked; exit" QUIT; echo ready; while :; do sleep 0.02; done'


def test_reap_wakes_postgres_and_lets_it_exit(begin: Begin, tmp_path: Path) -> None:
    marker = new_marker()
    server = begin(
        marker, ["/opt/bin/postgres", "-c", POSTMASTER, "-D"], executable="/bin/bash", cwd=tmp_path
    )
    assert reaper.is_postmaster(server.pid)
    os.kill(server.pid, signal.SIGSTOP)
    assert server.pid in reaper.reap(marker, seconds=60, asking=60)
    assert server.wait(20) == 0
    assert (tmp_path / "asked").exists()


def test_reap_kills_postgres_that_ignores_sigquit(begin: Begin) -> None:
    marker = new_marker()
    deaf = POSTMASTER.replace('"echo asked >asked; exit"', '""')
    server = begin(marker, ["/opt/bin/postgres", "-c", deaf, "-D"], executable="/bin/bash")
    assert server.pid in reaper.reap(marker)
    assert server.wait(20) == -signal.SIGKILL


def test_other_or_missing_process_is_not_a_postmaster(begin: Begin) -> None:
    assert not reaper.is_postmaster(begin(new_marker(), [*PYTHON, WAITING]).pid)
    assert not reaper.is_postmaster(2**22 + 1)


# The sweep at the next start.


def leftovers_of(marker: str) -> list[str]:
    return [p for left in find_leftovers() if left.marker == marker for p in left.processes]


def test_sweep_ends_leftovers_of_a_dead_harness(
    harness: Callable[..., Harness], monkeypatch: pytest.MonkeyPatch
) -> None:
    run = harness("unwatched")
    marker = run.report["marker"]
    assert leftovers_of(marker) == []
    run.popen.kill()
    run.popen.wait()
    found = leftovers_of(marker)
    # The child with the scrubbed environment has no marker, but is ended with its session.
    assert {int(p.split()[0]) for p in found} < set(run.pids)
    assert len(found) == 4
    assert all(p.partition(" ")[2] == sys.executable for p in found)
    find = sweep.find_leftovers
    # Only this test's leftovers: those of other runs on this machine must not be ended.
    monkeypatch.setattr(
        sweep, "find_leftovers", lambda: [left for left in find() if left.marker == marker]
    )
    (swept,) = sweep.sweep()
    assert (swept.marker, list(swept.processes)) == (marker, found)
    wait_gone(run.pids)
    assert sweep.sweep() == []


def test_processes_in_a_container_are_not_leftovers() -> None:
    """The process ids in its marker belong to another pid namespace."""
    marker = f"1-99-{os.getpid()}"
    inside = ["sh", "-c", "echo up; exec sleep 60"]
    command = ["unshare", "-Urpf", "--kill-child", "env", f"{MARKER}={marker}", *inside]
    try:
        unshared = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    except FileNotFoundError:
        pytest.skip("there is no unshare here")
    with unshared:
        assert unshared.stdout is not None
        if not unshared.stdout.readline():
            pytest.skip("nobody may make a namespace here")
        try:
            assert leftovers_of(marker) == []
        finally:
            unshared.kill()


def test_processes_of_a_living_harness_are_not_leftovers(begin: Begin) -> None:
    marker = new_marker()  # of this process
    child = begin(marker, [*PYTHON, WAITING])
    assert reaper.marked(marker) == [child.pid]
    assert leftovers_of(marker) == []


def test_reused_process_id_is_not_the_harness(begin: Begin) -> None:
    pid, started, rest = new_marker().split("-")
    begin(marker := f"{pid}-{int(started) - 1}-{rest}", [*PYTHON, WAITING])
    assert len(leftovers_of(marker)) == 1


def test_zombie_harness_counts_as_dead(harness: Callable[..., Harness]) -> None:
    run = harness("unwatched")
    run.popen.kill()
    wait_until(
        lambda: psutil.Process(run.popen.pid).status() == psutil.STATUS_ZOMBIE,
        what="a zombie",
        seconds=20,
    )
    assert len(leftovers_of(run.report["marker"])) == 4


def test_program_with_undecodable_name_is_found(begin: Begin) -> None:
    pid, started, rest = new_marker().split("-")
    marker = f"{pid}-{int(started) - 1}-{rest}"
    begin(marker, [b"/opt/caf\xe9", *PYTHON[1:], WAITING], executable=sys.executable)  # type: ignore[list-item]
    assert len(leftovers_of(marker)) == 1


def test_markers_are_unique() -> None:
    assert new_marker() != new_marker()
    assert new_marker().startswith(f"{os.getpid()}-")


def test_reaper_that_does_not_end_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from onceproof.harness.processes import watchdog as module

    monkeypatch.setattr(module, "_SECONDS", 0.1)
    watchdog = module.Watchdog(new_marker(), log=tmp_path / "log", remove=[tmp_path / "large"])
    watchdog._popen.send_signal(signal.SIGSTOP)
    try:
        with pytest.raises(Overdue, match=r"to remove .*large, which still runs"):
            watchdog.release()
    finally:
        watchdog._popen.kill()
        watchdog._popen.wait()
