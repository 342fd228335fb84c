"""Processes that are kept running: started again when they end, and given up in the end."""

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
def kept(processes: Processes, tmp_path: Path) -> Iterator[object]:
    made: list[Supervisor] = []

    def make(code: str, progress: list[int]) -> Supervisor:
        one = keep_running(
            "thing",
            [sys.executable, "-c", code],
            processes=processes,
            environment={"COLOUR": "red"},
            folder=tmp_path,
            progress=lambda: progress[0],
        )
        made.append(one)
        return one

    yield make
    for one in made:
        one.close()


def lives(processes: Processes) -> int:
    return len(processes.all)


def given_up(one: Supervisor) -> str:
    """Wait until it is; why it was."""

    def why() -> str | None:
        try:
            one.check()
        except PipelineTrouble as trouble:
            return str(trouble)
        return None

    return wait_until(why, what="it to be given up", seconds=120)


def test_one_that_ends_is_started_again_with_all_that_it_had(kept, processes, tmp_path) -> None:
    one = kept(
        "import os; open('lives', 'a').write(os.environ['COLOUR'] + chr(10))\n"
        "if len(open('lives').readlines()) > 2:\n    import time; time.sleep(600)",
        [0],
    )
    one.start()
    wait_until(lambda: lives(processes) == 3 and one.alive(), what="a third life", seconds=60)
    one.start()
    assert lives(processes) == 3
    one.check()
    file = tmp_path / "lives"
    wait_until(lambda: file.read_text().split() == ["red"] * 3, what="it to say so", seconds=60)


def test_what_one_left_that_ended_by_itself_is_cleared_first(kept, processes) -> None:
    one = kept("import os; os._exit(len(os.listdir('.')) > 1000)", [0])
    at: list[int] = []
    one.before_again = lambda: at.append(lives(processes))
    one.start()
    wait_until(lambda: lives(processes) >= 3, what="a third life", seconds=60)
    assert at[:2] == [1, 2]


def test_nothing_is_cleared_where_processes_of_it_live_on(kept, processes) -> None:
    one = kept("import subprocess; subprocess.Popen(['sleep', '600'])", [0])
    cleared: list[bool] = []
    one.before_again = lambda: cleared.append(True)
    one.start()
    wait_until(lambda: lives(processes) == 2, what="a second life", seconds=60)
    assert not cleared
    for process in processes.all:
        process.kill("the test is over")


def test_one_that_we_killed_stays_down_until_it_is_started(kept, processes) -> None:
    one = kept("import time; time.sleep(600)", [0])
    with pytest.raises(PipelineTrouble, match="thing is not running"):
        one.running()
    one.start()
    one.running().kill("a test")
    other = kept("raise SystemExit(0)", [0])  # what the keeper does in this time
    other.start()
    wait_until(lambda: lives(processes) > 6, what="others to have come and gone", seconds=60)
    assert not one.alive()
    one.start()
    assert one.running().instance.startswith("thing#")


def test_one_that_only_fails_is_given_up(kept, processes) -> None:
    one = kept("raise SystemExit('no broker')", [0])
    one.start()
    assert re.search(f"failed {LIVES + 1} times in a row.*no broker", given_up(one))
    assert lives(processes) == LIVES + 1


def test_one_that_fails_and_gets_on_is_not(kept, processes) -> None:
    progress = [0]
    one = kept("raise SystemExit(1)", progress)

    def on() -> bool:
        progress[0] += 1
        return lives(processes) > LIVES + 3

    one.start()
    wait_until(on, what="many lives", seconds=120, every=0.01)
    one.check()


def test_one_that_ends_well_may_do_so_for_ever(kept, processes) -> None:
    one = kept("pass", [0])
    one.start()
    wait_until(lambda: lives(processes) > LIVES + 3, what="many lives", seconds=120)
    one.check()


# Several that do the same work.

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


def test_only_who_ended_is_started_again(members, processes) -> None:
    both = members(one=WAITING, other=WAITING)
    both.start()
    both.process("other").popen.kill()
    wait_until(lambda: lives(processes) == 3, what="a third life", seconds=60)
    wait_until(lambda: both.restarts == 1, what="it to be counted", seconds=60)
    assert [process.instance for process in processes.all] == ["one#1", "other#1", "other#2"]
    assert processes.all[1].how == "ended by signal 9"


@pytest.mark.parametrize("how", ["kill", "stop"])
def test_who_was_ended_stays_down_while_others_are_started_again(members, processes, how) -> None:
    both = members(one=WAITING, other=ENDING)
    both.start()
    assert getattr(both, how)("one", "a fault").how == "a fault"
    with pytest.raises(PipelineTrouble, match="one is not running"):
        both.process("one")
    wait_until(lambda: lives(processes) > 5, what="the other to come and go", seconds=60)
    assert [p.name for p in processes.all].count("one") == 1
    both.restart("one")
    assert both.process("one").instance == "one#2"


def test_those_who_end_again_and_again_are_given_up_together(members, processes) -> None:
    both = members(one=ENDING, other=ENDING)
    both.start()
    why = given_up(both)
    assert re.search(
        rf"members ended by themselves {LIVES + 1} times; last output of \w+#\d+: no more", why
    )
    assert lives(processes) == LIVES + 2


def test_another_life_may_begin_beside_the_one_that_runs(members, processes) -> None:
    alone = members(one=WAITING)
    assert alone.life is None
    alone.start()
    alone.succeed()
    assert alone.running() is alone.life is processes.all[1]
    assert processes.all[0].leader_alive()


def test_who_ended_by_itself_just_before_it_was_to_be_ended_stays_down(members, processes) -> None:
    both = members(one=WAITING, other=ENDING)
    both.start()
    with both._lock:  # so that nobody starts it again meanwhile
        both.process("one").popen.kill()
        wait_until(lambda: not processes.all[0].leader_alive(), what="its end", seconds=20)
        with pytest.raises(PipelineTrouble, match="one is not running"):
            both.kill("one", "a fault")
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
def test_only_if_asked_what_it_left_is_waited_for(members, processes, tmp_path, whole) -> None:
    child, code = tmp_path / "child", f"import sys; sys.argv += [{str(tmp_path / 'child')!r}]"
    one = members(whole=whole, one=code + PARENT, other=ENDING)
    one.start()
    wait_until(lambda: lives(processes) > 7, what="the other to come and go", seconds=60)
    assert [p.name for p in processes.all].count("one") == (1 if whole else 2)
    os.kill(int(child.read_text()), signal.SIGKILL)
    wait_until(lambda: [p.name for p in processes.all].count("one") == 2, what="a life", seconds=60)
