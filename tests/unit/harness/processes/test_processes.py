"""Processes of a run: freezing, killing and stopping whole sessions."""

from __future__ import annotations

import os
import shutil
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from onceproof.harness.processes import processes as module
from onceproof.harness.processes import reaper
from onceproof.harness.processes.processes import MARKER, Process, Processes
from onceproof.harness.wait import Overdue, wait_until

Start = Callable[..., Process]

FOREVER = "import time\nwhile True: time.sleep(60)\n"
IN_ANOTHER_GROUP = f"""
import os
if os.fork() == 0:
    os.setpgid(0, 0)
    print('ready', flush=True)
    {FOREVER.splitlines()[0]}
{FOREVER.split(chr(10), 1)[1].replace("while", "import time" + chr(10) + "while")}
"""


def states(session: int) -> dict[int, str]:
    """Map the process ids of a session to their states, as psutil reports them."""
    found = {}
    for process in psutil.process_iter():
        try:
            if os.getsid(process.pid) == session:
                found[process.pid] = process.status()
        except (ProcessLookupError, psutil.NoSuchProcess):
            continue
    return found


def living(session: int) -> set[int]:
    return {pid for pid, state in states(session).items() if state != psutil.STATUS_ZOMBIE}


def test_each_start_gets_its_own_session_name_and_log(processes: Processes, start: Start) -> None:
    first = start("print('ready'); print('first')\n", "broker-1")
    second = start(f"print('ready', flush=True)\n{FOREVER}", "broker-1")
    assert (first.instance, second.instance) == ("broker-1#1", "broker-1#2")
    assert (first.log.name, second.log.name) == ("broker-1.1.log", "broker-1.2.log")
    assert first.log.read_text().split() == ["ready", "first"]
    assert os.getsid(second.session) == second.session != os.getsid(0)
    assert processes.all == [first, second]


def test_process_gets_the_marker_and_its_environment(processes: Processes) -> None:
    process = processes.start("x", ["sleep", "600"], environment={"COLOUR": "red", MARKER: "mine"})
    # Empty until the kernel has loaded the new program.
    environment = wait_until(
        psutil.Process(process.session).environ, what="its environment", seconds=20
    )
    assert environment[MARKER] == processes.marker
    assert environment["COLOUR"] == "red"
    assert environment["PATH"] == os.environ["PATH"]


def test_start_uses_folder_and_pipes(processes: Processes, tmp_path: Path) -> None:
    process = processes.start("x", ["sh", "-c", "pwd; cat"], folder=tmp_path, pipes=True)
    out, _ = process.popen.communicate(b"said")
    assert out.decode().splitlines() == [str(tmp_path), "said"]


def test_starting_a_missing_program_fails(processes: Processes) -> None:
    with pytest.raises(OSError, match="no-such-program"):
        processes.start("x", ["no-such-program"])
    assert processes.all == []


def test_kill_includes_child_in_another_process_group(processes: Processes, start: Start) -> None:
    process = start(IN_ANOTHER_GROUP)
    members = living(process.session)
    assert len({os.getpgid(pid) for pid in members}) == 2
    assert process.members() == 2
    process.kill("a test")
    assert living(process.session) == set()
    assert process.popen.returncode == -signal.SIGKILL
    assert process.how == "a test"
    assert process.ending
    assert processes.changes == [("thing#1", None), ("thing#1", "a test")]  # type: ignore[attr-defined]


def test_child_in_its_own_session_is_frozen_and_killed_too(start: Start) -> None:
    """PostgreSQL starts such children."""
    process = start(IN_ANOTHER_GROUP.replace("os.setpgid(0, 0)", "os.setsid()"))
    (child,) = psutil.Process(process.session).children()
    assert process.members() == 2
    process.freeze()
    assert process.frozen()
    assert child.status() == psutil.STATUS_STOPPED
    process.thaw()
    wait_until(lambda: not process.frozen(), what="it to go on", seconds=20)
    process.kill("a test")
    assert not child.is_running() or child.status() == psutil.STATUS_ZOMBIE


def test_process_is_alive_while_a_child_in_its_own_session_is(start: Start) -> None:
    process = start(IN_ANOTHER_GROUP.replace("os.setpgid(0, 0)", "os.setsid()"))
    (child,) = psutil.Process(process.session).children()
    assert process.members() == 2
    process.popen.kill()
    wait_until(lambda: not process.leader_alive(), what="its end", seconds=20)
    assert process.alive()
    process.note_exit()
    assert process.ended_at is None
    process.kill("a test")
    assert not child.is_running() or child.status() == psutil.STATUS_ZOMBIE


@pytest.mark.parametrize("asked", [True, False])
def test_end_terminates_or_kills(start: Start, asked: bool) -> None:
    process = start(
        "import signal, sys\nsignal.signal(signal.SIGTERM, lambda *_: sys.exit(7))\n"
        f"print('ready', flush=True)\n{FOREVER}"
    )
    assert process.ended == "has not ended"
    process.end("a test", asked=asked)
    assert process.ended == ("exited with 7" if asked else "ended by signal 9")
    assert process.how == "a test"
    assert not process.alive()


SCRIPT = """
import os, signal, sys, time
if os.fork():
    {does}
    os.wait()
    os._exit(3)
signal.signal(signal.SIGTERM, lambda *_: (print('asked', flush=True), os._exit(0)))
print('ready', flush=True)
while True: time.sleep(60)
"""


@pytest.mark.parametrize(
    "does", ["pass", "signal.signal(signal.SIGTERM, lambda *_: None)"], ids=["ends", "waits"]
)
def test_end_signals_program_that_its_start_script_does_not_signal(
    monkeypatch: pytest.MonkeyPatch, start: Start, does: str
) -> None:
    monkeypatch.setattr(module, "_SCRIPT_SECONDS", 20.0 if does == "pass" else 0.01)
    monkeypatch.setattr(module, "_PATIENCE", 40.0 if does == "pass" else 2.0)
    process = start(SCRIPT.format(does=does))
    process.end("a test", asked=True)
    assert "asked" in process.log.read_text().split()
    assert process.how == "a test"


def test_end_signals_program_only_once(start: Start) -> None:
    asks = "signal.signal(signal.SIGTERM, lambda *_: os.kill(child, signal.SIGTERM))"
    program = SCRIPT.format(does=asks).replace("if os.fork():", "child = os.fork()\nif child:")
    process = start(program.replace("os._exit(0)", "time.sleep(1), os._exit(0)"))
    process.end("a test", asked=True)
    assert process.log.read_text().split().count("asked") == 1
    assert process.ended == "exited with 3"


def test_only_the_first_end_is_recorded(processes: Processes, start: Start) -> None:
    process = start(f"print('ready', flush=True)\n{FOREVER}")
    process.kill("a test")
    ended_at = process.ended_at
    process.stop("again")
    assert (process.how, process.ended_at) == ("a test", ended_at)
    assert processes.changes == [("thing#1", None), ("thing#1", "a test")]  # type: ignore[attr-defined]


def test_program_name_that_resembles_stat_fields_is_parsed(
    processes: Processes, tmp_path: Path
) -> None:
    odd = tmp_path / "x) Z 1 (y"
    odd.symlink_to(shutil.which("sleep") or "/bin/sleep")
    process = processes.start("odd", [odd, "600"])
    wait_until(lambda: psutil.Process(process.session).name() == odd.name, what="it", seconds=20)
    assert process.alive()
    assert process.members() == 1
    assert reaper.in_sessions({process.session}) == [process.session]
    process.kill("a test")
    assert living(process.session) == set()


def test_kill_includes_child_that_outlives_the_leader(start: Start) -> None:
    process = start(
        f"import os, sys\nif os.fork():\n    os._exit(0)\nprint('ready', flush=True)\n{FOREVER}"
    )
    wait_until(lambda: not process.leader_alive(), what="the first to end", seconds=20)
    assert process.alive()
    process.note_exit()
    assert process.ended_at is None
    process.kill("a test")
    assert not process.alive()
    assert process.ended_at is not None


def test_kill_ends_frozen_processes(start: Start) -> None:
    process = start(IN_ANOTHER_GROUP)
    process.freeze()
    process.kill("a test")
    assert living(process.session) == set()


FORKING = """
import os, signal, time
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
if os.fork() == 0:
    os.setpgid(0, 0)
    print('ready', flush=True)
while True:
    if os.fork() == 0:
        time.sleep(0.02)
        os._exit(0)
    time.sleep(0.001)
"""


def test_freeze_stops_a_session_that_keeps_forking(start: Start) -> None:
    process = start(FORKING)
    for _ in range(5):
        process.freeze()
        assert process.frozen()
        first, second = states(process.session), states(process.session)
        # Nothing runs, so no process starts or ends.
        assert set(first.values()) <= {psutil.STATUS_STOPPED, psutil.STATUS_ZOMBIE}
        assert first.keys() == second.keys()
        process.thaw()
        wait_until(
            lambda first=first: states(process.session).keys() != first.keys(),
            what="the session to go on",
            seconds=20,
        )
    assert not process.frozen()
    process.kill("a test")
    assert not process.frozen()
    assert living(process.session) == set()


STARTING = """
import os, sys
print('ready', flush=True)
only_when = [(os.POSIX_SPAWN_OPEN, 0, '{fifo}', os.O_RDONLY, 0)]
os.posix_spawn('/bin/sleep', ['sleep', '100'], os.environ, file_actions=only_when)
"""


def test_pause_waits_until_a_spawn_is_done(start: Start, tmp_path: Path) -> None:
    """The spawning thread waits in the kernel, and stops only once the new process runs."""
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    process = start(STARTING.format(fifo=fifo) + "import time; time.sleep(100)")
    wait_until(
        lambda: psutil.STATUS_DISK_SLEEP in states(process.session).values(),
        what="it to wait for its child", seconds=20, seen=lambda: states(process.session),
    )  # fmt: skip
    process.freeze()
    assert not process.frozen()
    writer = os.open(fifo, os.O_RDWR)
    try:
        process.pause()
    finally:
        os.close(writer)
    assert process.frozen()
    assert process.members() == 2


def test_partly_stopped_session_is_not_frozen(start: Start) -> None:
    process = start(IN_ANOTHER_GROUP)
    wait_until(lambda: process.members() == 2, what="both", seconds=20)
    os.kill(process.session, signal.SIGSTOP)
    wait_until(
        lambda: states(process.session)[process.session] == psutil.STATUS_STOPPED,
        what="the first to stand still", seconds=20,
    )  # fmt: skip
    assert not process.frozen()
    process.freeze()
    assert process.frozen()


def test_kill_reports_survivors(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    process = start(f"print('ready', flush=True)\n{FOREVER}")
    with monkeypatch.context() as harmless:
        harmless.setattr(Process, "send", lambda *_: None)
        with pytest.raises(Overdue, match=rf"thing#1 to end; last seen: \[{process.session}\]"):
            process.kill("a test", seconds=0.1)
    assert process.ended_at is None


def test_stop_sends_sigterm_first(start: Start) -> None:
    process = start(
        "import signal, sys, time\n"
        "signal.signal(signal.SIGTERM, lambda *_: sys.exit(7))\n"
        f"print('ready', flush=True)\n{FOREVER}"
    )
    process.stop("asked", seconds=20)
    assert (process.popen.returncode, process.how) == (7, "asked")


def test_stop_sends_the_given_signal(start: Start) -> None:
    process = start(f"print('ready', flush=True)\n{FOREVER}")
    process.stop("asked", sig=signal.SIGINT, seconds=20)
    assert process.popen.returncode in {-signal.SIGINT, 130, 1}
    assert "KeyboardInterrupt" in process.tail()


def test_stop_kills_process_that_ignores_sigterm(processes: Processes, start: Start) -> None:
    process = start(
        "import signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        f"print('ready', flush=True)\n{FOREVER}"
    )
    process.stop("asked", seconds=0.1)
    assert process.popen.returncode == -signal.SIGKILL
    assert process.how == "asked; had to be killed after 0.1 s"
    assert living(process.session) == set()
    assert len(processes.changes) == 2  # type: ignore[attr-defined]


def test_stop_ends_child_that_outlives_the_leader(start: Start) -> None:
    process = start(IN_ANOTHER_GROUP)
    process.stop("asked", seconds=0.1)
    assert living(process.session) == set()
    assert "had to be killed" in (process.how or "")


@pytest.mark.parametrize(
    ("program", "how"),
    [
        ("print('ready'); raise SystemExit(3)", "exited with 3"),
        ("print('ready')", "exited with 0"),
        (
            "import os, signal; print('ready', flush=True); os.kill(os.getpid(), signal.SIGSEGV)",
            "ended by signal 11",
        ),
    ],
)
def test_exit_by_itself_is_recorded(
    processes: Processes, start: Start, program: str, how: str
) -> None:
    process = start(program)
    wait_until(lambda: not process.alive(), what="its end", seconds=20)
    process.note_exit()
    process.note_exit()
    assert process.how == how
    assert not process.ending
    assert processes.changes == [("thing#1", None), ("thing#1", how)]  # type: ignore[attr-defined]


def test_exit_missed_by_poll_is_recorded(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    process = start("print('ready')")
    wait_until(lambda: not living(process.session), what="its end", seconds=20)
    monkeypatch.setattr(process.popen, "poll", lambda: None)  # as polled just before its end
    process.note_exit()
    assert process.how == "exited with 0"


def test_note_exit_ignores_a_living_process(start: Start) -> None:
    process = start(f"print('ready', flush=True)\n{FOREVER}")
    process.note_exit()
    assert (process.ended_at, process.how) == (None, None)
    assert process.alive()
    assert process.leader_alive()


def test_kill_all_ends_processes_in_reverse_order(processes: Processes, start: Start) -> None:
    start("print('ready')", "done")
    for name in ("one", "two"):
        start(f"print('ready', flush=True)\n{FOREVER}", name)
    wait_until(lambda: not processes.all[0].alive(), what="the first to end", seconds=20)
    processes.kill_all("over")
    changes = processes.changes[3:]  # type: ignore[attr-defined]
    assert changes == [("two#1", "over"), ("one#1", "over"), ("done#1", "exited with 0")]
    processes.kill_all("over again")
    assert len(processes.changes) == 6  # type: ignore[attr-defined]


def test_kill_all_continues_after_a_failed_callback(tmp_path: Path, start: Start) -> None:
    def report(process: Process) -> None:
        if process.ended_at is not None and process.name == "two":
            raise OSError(28, "No space left on device")

    made = Processes("1-1-1", tmp_path, report)
    for name in ("one", "two", "three"):
        made.start(name, [sys.executable, "-I", "-S", "-c", FOREVER])
    with pytest.raises(ExceptionGroup, match="could not end every process") as error:
        made.kill_all("over")
    assert len(error.value.exceptions) == 1
    assert [living(p.session) for p in made.all] == [set()] * 3


def test_tail_returns_the_last_lines_of_the_log(start: Start) -> None:
    process = start("print('\\n'.join(map(str, range(40)))); print('ready')")
    assert process.tail(3) == "38 | 39 | ready (whole log: logs/thing.1.log)"
    assert process.tail().startswith("37 | 38 | 39 | ready ")
    process.log.write_bytes(b"\xff\n\n")
    assert process.tail() == "\ufffd (whole log: logs/thing.1.log)"
    process.log.unlink()
    assert process.tail() == "no log file"


def test_tail_omits_stack_frames_and_keeps_errors(start: Start) -> None:
    process = start("print('ready', flush=True)\ndef f():\n    raise ValueError('wrong')\nf()\n")
    wait_until(lambda: not process.alive(), what="its end", seconds=20)
    words = process.tail().removesuffix(" (whole log: logs/thing.1.log)").split(" | ")
    assert words == ["ready", "Traceback (most recent call last):", "ValueError: wrong"]
    java = "Exception in thread: wrong\n\tat a.B.c(B.java:1)\n\t... 3 more\nCaused by: worse\n"
    process.log.write_text(java)
    assert process.tail().startswith("Exception in thread: wrong | Caused by: worse (whole log")
    noise = "".join(f"Unclosed client {n}\n" for n in range(6))
    process.log.write_text(f"ready\nTypeError: Expected list, got tuple\n{noise}")
    assert process.tail(2).startswith(
        "TypeError: Expected list, got tuple | Unclosed client 4 | Unclosed client 5 (whole log"
    )
    process.log.write_text("ValueError: long ago\n" + "ready\n" * 30)
    assert process.tail(1) == "ready (whole log: logs/thing.1.log)"
