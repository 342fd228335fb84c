"""Spark drivers are restarted after a clean exit, but not after a kill or a failure."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from onceproof.harness.context.pipeline import PipelineTrouble
from onceproof.harness.history.tables import Recorded, read_lines
from onceproof.harness.history.writer import HistoryWriter
from onceproof.harness.processes.processes import Processes
from onceproof.harness.processes.sweep import new_marker
from onceproof.harness.sinks.nothing import EmptySink
from onceproof.harness.subjects.spark.restarted_driver import SparkPipelineAgain
from onceproof.harness.wait import Stop, wait_until
from tests.unit.fakes.pipelines import parts_in

SECONDS = 30.0
JOB = """
import pathlib, sys, time
folder = pathlib.Path(sys.argv[1])
mine = folder / f"life-{len(list(folder.glob('life-*')))}"
mine.touch()
until = folder / "end"
while not until.exists():
    time.sleep(0.02)
code = int(until.read_text())
if not code:
    until.unlink()
print("said last")
sys.exit(code)
"""


class World:
    """A pipeline whose driver ends on request."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "logs").mkdir()
        (folder / "job.py").write_text(JOB)
        self.processes = Processes(new_marker(), folder / "logs")
        self.stop = Stop()
        self.pipeline = SparkPipelineAgain(
            command=[str(folder / "job.py"), str(folder)],
            checkpoint=folder / "checkpoint",
            parts=parts_in(folder, processes=self.processes, stop=self.stop),
            jars=[],
        )

    def end(self, code: int = 0) -> None:
        (self.folder / ".end").write_text(str(code))
        (self.folder / ".end").rename(self.folder / "end")

    def wait_lives(self, count: int) -> None:
        """Wait until `count` lives have begun."""
        self.wait(lambda: len(list(self.folder.glob("life-*"))) == count, f"{count} lives")

    def wait(self, what: Callable[[], bool], words: str) -> None:
        wait_until(what, what=words, seconds=SECONDS, seen=lambda: list(self.folder.iterdir()))

    def ends(self) -> list[str | None]:
        return [process.how for process in self.processes.all]


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    made = World(tmp_path)
    made.pipeline.start()
    made.wait_lives(1)
    yield made
    made.pipeline.close()
    made.processes.kill_all("the test is over")


def collected(world: World) -> dict[str, str]:
    writer = HistoryWriter(world.folder, "auditor")
    world.pipeline.collect(writer, Recorded(lines={}, tables={}), EmptySink())
    writer.close()
    rows = read_lines(world.folder).tables["hazards"].to_pylist()
    return {row["hazard"]: row["detail"] for row in rows}


def test_driver_that_exits_cleanly_is_restarted_and_counted(world: World) -> None:
    for lives in (2, 3):
        world.end()
        world.wait_lives(lives)
    world.pipeline.check()
    assert world.ends() == ["exited with 0", "exited with 0", None]
    (words,) = collected(world).values()
    assert words.startswith("2 restarts of the driver")


def test_killed_driver_restarts_only_on_start(world: World) -> None:
    world.pipeline.kill("a fault")
    world.pipeline.check()
    assert not world.pipeline.alive()
    world.pipeline.start()
    world.wait_lives(2)
    world.end()
    world.wait_lives(3)
    assert world.ends() == ["a fault", "exited with 0", None]


def test_failed_driver_is_not_restarted(world: World) -> None:
    world.end(code=3)

    def trouble() -> bool:
        try:
            world.pipeline.check()
        except PipelineTrouble as error:
            return "driver#1 exited with 3; last output: said last" in str(error)
        return False

    world.wait(trouble, "its failure to be told")
    assert len(world.processes.all) == 1


@pytest.mark.parametrize("how", ["collected", "closed", "stopped"])
def test_driver_is_not_restarted_after_the_run(world: World, how: str) -> None:
    if how == "collected":
        assert collected(world) == {}
    elif how == "closed":
        world.pipeline.close()
    else:
        world.stop.set("enough")
    world.end()
    world.wait(lambda: not world.pipeline.alive(), "its end")
    world.pipeline.close()
    assert len(world.processes.all) == 1
