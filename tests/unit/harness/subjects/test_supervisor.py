"""Supervisors restart processes that end, and give up on those that keep failing."""

from __future__ import annotations

import os
import re
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from onceproof.harness.context.pipeline import PipelineTrouble
from onceproof.harness.processes.processes import Processes
from onceproof.harness.subjects.supervisor import LIVES, Supervisor, TooOften
from onceproof.harness.user_pipeline.command import keep_running
from onceproof.harness.wait import wait_until


@pytest.fixture
def make_supervisor(processes: Processes, tmp_path: Path) -> Iterator[object]:
    made: list[Supervisor] = []

    def make(code: str, progress: list[int]) -> Supervisor:
        supervisor = keep_running(
            "thing",
            [sys.executable, "-c", code],
            processes=processes,
            environment={"COLOUR": "red"},
            folder=tmp_path,
            progress=lambda: progress[0],
        )
        made.append(supervisor)
        return supervisor

    yield make
    for supervisor in made:
        supervisor.close()


def lives(processes: Processes) -> int:
    return len(processes.all)


def given_up(supervisor: Supervisor) -> str:
    """Wait until the supervisor gives up; return its reason."""

    def reason() -> str | None:
        try:
            supervisor.check()
        except PipelineTrouble as trouble:
            return str(trouble)
        return None

    return wait_until(reason, what="it to be given up", seconds=120)


def test_ended_process_is_restarted_with_its_environment_and_folder(
    make_supervisor, processes, tmp_path
) -> None:
    supervisor = make_supervisor(
        "import os; open('lives', 'a').write(os.environ['COLOUR'] + chr(10))\n"
        "if len(open('lives').readlines()) > 2:\n    import time; time.sleep(600)",
        [0],
    )
    supervisor.start()
    wait_until(
        lambda: lives(processes) == 3 and supervisor.alive(), what="a third life", seconds=60
    )
    supervisor.start()
    assert lives(processes) == 3
    supervisor.check()
    file = tmp_path / "lives"
    wait_until(lambda: file.read_text().split() == ["red"] * 3, what="it to say so", seconds=60)


def test_before_again_runs_before_each_restart(make_supervisor, processes) -> None:
    supervisor = make_supervisor("import os; os._exit(len(os.listdir('.')) > 1000)", [0])
    lives_before: list[int] = []
    supervisor.before_again = lambda: lives_before.append(lives(processes))
    supervisor.start()
    wait_until(lambda: lives(processes) >= 3, what="a third life", seconds=60)
    assert lives_before[:2] == [1, 2]


def test_before_again_is_skipped_while_child_processes_live(make_supervisor, processes) -> None:
    supervisor = make_supervisor("import subprocess; subprocess.Popen(['sleep', '600'])", [0])
    cleared: list[bool] = []
    supervisor.before_again = lambda: cleared.append(True)
    supervisor.start()
    wait_until(lambda: lives(processes) == 2, what="a second life", seconds=60)
    assert not cleared
    for process in processes.all:
        process.kill("the test is over")


def test_killed_process_stays_down_until_started(make_supervisor, processes) -> None:
    supervisor = make_supervisor("import time; time.sleep(600)", [0])
    with pytest.raises(PipelineTrouble, match="thing is not running"):
        supervisor.running()
    supervisor.start()
    supervisor.running().kill("a test")
    # Its lives show that the first supervisor had time to act.
    other = make_supervisor("raise SystemExit(0)", [0])
    other.start()
    wait_until(lambda: lives(processes) > 6, what="others to have come and gone", seconds=60)
    assert not supervisor.alive()
    supervisor.start()
    assert supervisor.running().instance.startswith("thing#")


def test_gives_up_on_process_that_only_fails(make_supervisor, processes) -> None:
    supervisor = make_supervisor("raise SystemExit('no broker')", [0])
    supervisor.start()
    assert re.search(f"failed {LIVES + 1} times in a row.*no broker", given_up(supervisor))
    assert lives(processes) == LIVES + 1


def test_failing_process_with_progress_is_not_given_up(make_supervisor, processes) -> None:
    progress = [0]
    supervisor = make_supervisor("raise SystemExit(1)", progress)

    def advance() -> bool:
        progress[0] += 1
        return lives(processes) > LIVES + 3

    supervisor.start()
    wait_until(advance, what="many lives", seconds=120, every=0.01)
    supervisor.check()


def test_clean_exits_are_restarted_without_limit(make_supervisor, processes) -> None:
    supervisor = make_supervisor("pass", [0])
    supervisor.start()
    wait_until(lambda: lives(processes) > LIVES + 3, what="many lives", seconds=120)
    supervisor.check()


# Supervisors of several members.

WAITING, ENDING = "import time; time.sleep(600)", "print('no more')"


@pytest.fixture
def members(processes: Processes) -> Iterator[object]:
    made: list[Supervisor] = []

    def make(*, whole: bool = False, **codes: str) -> Supervisor:
        made.append(
            Supervisor(
                tuple(codes),
                lambda name: processes.start(name, [sys.executable, "-c", codes[name]]),
                gives_up=lambda: TooOften("members ended by themselves"),
                every=0.02,
                whole=whole,
            )
        )
        return made[-1]

    yield make
    for one in made:
        one.close()


def test_only_the_ended_member_is_restarted(members, processes) -> None:
    supervisor = members(one=WAITING, other=WAITING)
    supervisor.start()
    supervisor.process("other").popen.kill()
    wait_until(lambda: lives(processes) == 3, what="a third life", seconds=60)
    wait_until(lambda: supervisor.restarts == 1, what="it to be counted", seconds=60)
    assert [process.instance for process in processes.all] == ["one#1", "other#1", "other#2"]
    assert processes.all[1].how == "ended by signal 9"


@pytest.mark.parametrize("how", ["kill", "stop"])
def test_killed_or_stopped_member_stays_down_while_others_restart(members, processes, how) -> None:
    supervisor = members(one=WAITING, other=ENDING)
    supervisor.start()
    assert getattr(supervisor, how)("one", "a fault").how == "a fault"
    with pytest.raises(PipelineTrouble, match="one is not running"):
        supervisor.process("one")
    wait_until(lambda: lives(processes) > 5, what="the other to come and go", seconds=60)
    assert [p.name for p in processes.all].count("one") == 1
    supervisor.restart("one")
    assert supervisor.process("one").instance == "one#2"


def test_gives_up_when_members_keep_ending(members, processes) -> None:
    supervisor = members(one=ENDING, other=ENDING)
    supervisor.start()
    reason = given_up(supervisor)
    assert re.search(
        rf"members ended by themselves {LIVES + 1} times; last output of \w+#\d+: no more", reason
    )
    assert lives(processes) == LIVES + 2


def test_succeed_starts_a_life_beside_the_running_one(members, processes) -> None:
    supervisor = members(one=WAITING)
    assert supervisor.life is None
    supervisor.start()
    supervisor.succeed()
    assert supervisor.running() is supervisor.life is processes.all[1]
    assert processes.all[0].leader_alive()


def test_member_that_ended_just_before_a_kill_stays_down(members, processes) -> None:
    supervisor = members(one=WAITING, other=ENDING)
    supervisor.start()
    with supervisor._lock:  # so that it is not restarted meanwhile
        supervisor.process("one").popen.kill()
        wait_until(lambda: not processes.all[0].leader_alive(), what="its end", seconds=20)
        with pytest.raises(PipelineTrouble, match="one is not running"):
            supervisor.kill("one", "a fault")
    wait_until(lambda: lives(processes) > 5, what="the other to come and go", seconds=60)
    assert [p.name for p in processes.all].count("one") == 1


PARENT = """
import os, subprocess, sys, time
if not os.path.exists(sys.argv[1]):
    open(sys.argv[1], "w").write(str(subprocess.Popen(["sleep", "600"]).pid))
else:
    time.sleep(600)
"""


@pytest.mark.parametrize("whole", [False, True])
def test_whole_waits_for_child_processes_before_restarting(
    members, processes, tmp_path, whole
) -> None:
    child, code = tmp_path / "child", f"import sys; sys.argv += [{str(tmp_path / 'child')!r}]"
    one = members(whole=whole, one=code + PARENT, other=ENDING)
    one.start()
    wait_until(lambda: lives(processes) > 7, what="the other to come and go", seconds=60)
    assert [p.name for p in processes.all].count("one") == (1 if whole else 2)
    os.kill(int(child.read_text()), signal.SIGKILL)
    wait_until(lambda: [p.name for p in processes.all].count("one") == 2, what="a life", seconds=60)
