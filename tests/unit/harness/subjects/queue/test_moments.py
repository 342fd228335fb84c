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
