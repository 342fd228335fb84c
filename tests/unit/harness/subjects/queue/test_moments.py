"""Holding a forwarder at a moment, as seen from both sides."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from onceproof.harness.subjects.queue.moments import (
    AFTER_COMMIT,
    BEFORE_COMMIT,
    BEFORE_WRITE,
    Moments,
)
from onceproof.harness.wait import wait_until


@pytest.fixture
def holder(tmp_path: Path) -> Moments:
    return Moments(tmp_path, "forwarder-0")


def test_forwarder_is_held_only_at_the_requested_moment(holder: Moments, tmp_path: Path) -> None:
    Moments(tmp_path, "forwarder-0").reached(BEFORE_WRITE, "r1")
    assert holder.held() is None
    holder.ask(BEFORE_COMMIT)
    Moments(tmp_path, "forwarder-0").reached(BEFORE_WRITE, "r1")
    Moments(tmp_path, "forwarder-1").reached(BEFORE_COMMIT, "r1")
    assert holder.held() is None


def test_forwarder_is_held_until_released(holder: Moments, tmp_path: Path) -> None:
    forwarder = Moments(tmp_path, "forwarder-0")
    holder.ask(BEFORE_COMMIT)
    thread = threading.Thread(target=forwarder.reached, args=(BEFORE_COMMIT, "r7"), daemon=True)
    thread.start()
    assert wait_until(holder.held, what="it to stand still", seconds=10) == "r7"
    assert thread.is_alive()
    holder.let_go()
    thread.join(10)
    assert not thread.is_alive()
    assert (holder.held(), list(tmp_path.iterdir())) == (None, [])


def test_file_left_by_a_dead_forwarder_is_ignored(holder: Moments, tmp_path: Path) -> None:
    (tmp_path / "forwarder-0.held").write_text("r1")
    holder.ask(AFTER_COMMIT)
    assert holder.held() is None
    (tmp_path / "forwarder-0.held").write_text("")  # created, but not written yet
    assert holder.held() is None


def test_forwarder_is_held_at_each_of_several_moments(holder: Moments, tmp_path: Path) -> None:
    """It is released from one of them only, and reaches the other one."""
    forwarder = Moments(tmp_path, "forwarder-0")
    holder.record()
    holder.ask(BEFORE_WRITE)
    holder.ask(AFTER_COMMIT)

    def work() -> None:
        for moment in (BEFORE_WRITE, BEFORE_COMMIT, AFTER_COMMIT):
            forwarder.reached(moment, "r7")

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    reached = []
    for moment in (BEFORE_WRITE, AFTER_COMMIT):
        wait_until(holder.held, what="it to stand still", seconds=10)
        reached.append([name for name, _ in holder.passed()])
        holder.let_go(moment)
        count = len(reached[-1])
        wait_until(
            lambda count=count: len(holder.passed()) > count or not thread.is_alive(),
            what="it to go on",
            seconds=10,
        )
    thread.join(10)
    assert reached == [[BEFORE_WRITE], [BEFORE_WRITE, BEFORE_COMMIT, AFTER_COMMIT]]


def test_moments_are_recorded_only_on_request(holder: Moments, tmp_path: Path) -> None:
    forwarder = Moments(tmp_path, "forwarder-0")
    forwarder.reached(BEFORE_WRITE, "r1")
    assert list(tmp_path.iterdir()) == []
    holder.record()
    assert holder.passed() == []
    forwarder.reached(BEFORE_COMMIT, "r1")
    with (tmp_path / "forwarder-0.passed").open("a") as passed:
        passed.write(f"{AFTER_COMMIT} r")  # not yet complete
    assert holder.passed() == [(BEFORE_COMMIT, "r1")]
