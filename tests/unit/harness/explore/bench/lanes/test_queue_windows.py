"""The windows of a forwarder, from the moments that its lives write down."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from onceproof.harness.explore.bench.lanes.queue_windows import QueueWindows
from onceproof.harness.explore.bench.windows import ArmedWindow
from onceproof.harness.explore.points import QUEUE_BROKER
from onceproof.harness.subjects.queue.moments import (
    AFTER_COMMIT,
    BEFORE_COMMIT,
    BEFORE_WRITE,
    Moments,
)
from onceproof.harness.wait import wait_until

EVERY = (BEFORE_WRITE, BEFORE_COMMIT, AFTER_COMMIT)


@pytest.fixture
def windows(tmp_path: Path) -> Iterator[QueueWindows]:
    process: Any = SimpleNamespace(
        leader_alive=lambda: True, frozen=lambda: False, freeze=lambda: None, thaw=lambda: None
    )
    made = QueueWindows(tmp_path, "lane1", lambda: process)
    made.begin()
    yield made
    made.close()


def life(folder: Path, number: int) -> Moments:
    return Moments(folder, f"lane1-{number}")


def pass_all(of: Moments, record: str) -> None:
    for moment in EVERY:
        of.reached(moment, record)


def noted(windows: QueueWindows, count: int) -> list[tuple[str, str, int]]:
    wait_until(lambda: len(windows.passed()) >= count, what=f"{count} windows", seconds=10)
    return [(e["api"], e["purpose"], e["life"]) for e in windows.passed()]


def test_units_end_after_the_commit(windows: QueueWindows, tmp_path: Path) -> None:
    first = life(tmp_path, 1)
    pass_all(first, "r1")
    pass_all(first, "r2")
    found = noted(windows, 6)
    assert found[:3] == [
        (BEFORE_WRITE, "work", 1), (BEFORE_COMMIT, "commit", 1), (AFTER_COMMIT, "commit", 1),
    ]  # fmt: skip
    assert {e["target"] for e in windows.passed()} == {QUEUE_BROKER}
    wait_until(lambda: windows.units == 2, what="two units", seconds=10)


def test_what_an_earlier_life_had_in_hand_is_recovery(
    windows: QueueWindows, tmp_path: Path
) -> None:
    life(tmp_path, 1).reached(BEFORE_WRITE, "r1")
    noted(windows, 1)
    windows.begin()
    pass_all(life(tmp_path, 2), "r1")
    pass_all(life(tmp_path, 2), "r2")
    assert [purpose for _, purpose, _ in noted(windows, 7)] == [
        "work", *["recovery"] * 3, "work", "commit", "commit",
    ]  # fmt: skip


def test_what_the_same_life_is_given_again_is_recovery(
    windows: QueueWindows, tmp_path: Path
) -> None:
    """Its connection was closed before the commit."""
    life(tmp_path, 1).reached(BEFORE_WRITE, "r1")
    pass_all(life(tmp_path, 1), "r1")
    assert [purpose for _, purpose, _ in noted(windows, 4)] == ["work", *["recovery"] * 3]


def test_error_of_the_watching_thread_is_raised(windows: QueueWindows, tmp_path: Path) -> None:
    (tmp_path / "lane1-1.passed").unlink()
    wait_until(lambda: windows.error, what="the error", seconds=10)
    with pytest.raises(FileNotFoundError):
        windows.check()
    (tmp_path / "lane1-1.passed").touch()


def test_moment_of_an_earlier_life_is_its_own(windows: QueueWindows, tmp_path: Path) -> None:
    """A forwarder that was paused goes on beside the next life."""
    windows.begin()
    life(tmp_path, 2).reached(BEFORE_WRITE, "r1")
    noted(windows, 1)
    life(tmp_path, 1).reached(BEFORE_WRITE, "r2")
    assert [which for *_, which in noted(windows, 2)] == [2, 1]


def test_faults_at_two_windows_of_a_unit_are_told_apart(
    windows: QueueWindows, tmp_path: Path
) -> None:
    write, commit = (ArmedWindow(windows, name) for name in (BEFORE_WRITE, AFTER_COMMIT))
    write.arm()
    commit.arm()
    of = life(tmp_path, 1)
    hold, held = (tmp_path / f"lane1-1.{name}" for name in ("hold", "held"))
    assert hold.read_text().split() == [BEFORE_WRITE, AFTER_COMMIT]

    def stand(moment: str, record: str) -> None:
        """What `reached` does until it is released."""
        with (tmp_path / "lane1-1.passed").open("a") as passed:
            passed.write(f"{moment} {record}\n")
        held.write_text(record)

    stand(BEFORE_WRITE, "r1")
    (met,) = wait_until(write.met, what="the first fault", seconds=10)
    assert (met["api"], commit.met()) == (BEFORE_WRITE, [])
    assert write.left() is None
    assert hold.read_text().split() == [AFTER_COMMIT]
    held.unlink()
    of.reached(BEFORE_COMMIT, "r1")
    stand(AFTER_COMMIT, "r1")
    (met,) = wait_until(commit.met, what="the second fault", seconds=10)
    assert (met["api"], met["correlation_id"]) == (AFTER_COMMIT, 3)
    commit.release()
    assert not hold.exists()


def test_forwarder_is_let_go_if_nothing_was_met(windows: QueueWindows, tmp_path: Path) -> None:
    armed = ArmedWindow(windows, BEFORE_COMMIT)
    armed.arm()
    armed.remove()
    assert not (tmp_path / "lane1-1.hold").exists()
    assert armed.met() == []
