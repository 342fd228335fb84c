"""A command that is kept running: started again when it ends, and given up when it only fails."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from onceproof.harness.stage.processes import Processes
from onceproof.harness.subjects.pipeline import PipelineTrouble
from onceproof.harness.user_pipeline.kept import LIVES, Kept
from onceproof.harness.wait import wait_until


@pytest.fixture
def kept(processes: Processes, tmp_path: Path) -> Iterator[object]:
    made: list[Kept] = []

    def make(code: str, progress: list[int]) -> Kept:
        one = Kept(
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
    with pytest.raises(PipelineTrouble, match="thing does not run"):
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
    wait_until(lambda: one.trouble, what="it to be given up", seconds=120)
    with pytest.raises(PipelineTrouble, match=f"failed {LIVES + 1} times in a row.*no broker"):
        one.check()
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
