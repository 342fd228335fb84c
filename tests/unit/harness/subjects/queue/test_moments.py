"""Moments of a forwarder: who asks, who stands still, and what both see of each other."""

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
def asking(tmp_path: Path) -> Moments:
    return Moments(tmp_path, "forwarder-0")


def test_nobody_stands_still_unless_asked(asking: Moments, tmp_path: Path) -> None:
    Moments(tmp_path, "forwarder-0").reached(BEFORE_WRITE, "r1")
    assert asking.held() is None
    asking.ask(BEFORE_COMMIT)
    Moments(tmp_path, "forwarder-0").reached(BEFORE_WRITE, "r1")
    Moments(tmp_path, "forwarder-1").reached(BEFORE_COMMIT, "r1")
    assert asking.held() is None


def test_it_stands_still_until_it_is_let_go(asking: Moments, tmp_path: Path) -> None:
    there = Moments(tmp_path, "forwarder-0")
    asking.ask(BEFORE_COMMIT)
    at_work = threading.Thread(target=there.reached, args=(BEFORE_COMMIT, "r7"), daemon=True)
    at_work.start()
    assert wait_until(asking.held, what="it to stand still", seconds=10) == "r7"
    assert at_work.is_alive()
    asking.let_go()
    at_work.join(10)
    assert not at_work.is_alive()
    assert (asking.held(), list(tmp_path.iterdir())) == (None, [])


def test_what_one_that_died_left_is_not_taken_for_the_next(asking: Moments, tmp_path: Path) -> None:
    (tmp_path / "forwarder-0.held").write_text("r1")
    asking.ask(AFTER_COMMIT)
    assert asking.held() is None
    (tmp_path / "forwarder-0.held").write_text("")  # as it is while it is being written
    assert asking.held() is None
