"""`wait_until`: its result, its error, and how a stop ends it."""

from __future__ import annotations

import threading

import pytest

from onceproof.harness.wait import Interrupted, Overdue, Stop, wait_until


def test_returns_the_first_true_result() -> None:
    answers = iter([None, 0, "", ["here"]])
    assert wait_until(lambda: next(answers), what="x", seconds=30, every=0) == ["here"]


def test_error_has_seconds_description_and_last_seen() -> None:
    with pytest.raises(Overdue) as error:
        wait_until(lambda: None, what="spring", seconds=0, seen=lambda: "two swallows")
    assert str(error.value) == "waited 0 s for spring; last seen: two swallows"


def test_last_seen_is_evaluated_at_the_deadline() -> None:
    looks: list[int] = []
    with pytest.raises(Overdue, match=r"last seen: (\d+)") as error:
        wait_until(
            lambda: looks.append(1), what="x", seconds=0.05, every=0.01, seen=lambda: len(looks)
        )
    assert str(error.value).endswith(f"last seen: {len(looks)}")
    assert len(looks) > 1


def test_error_without_seen_has_no_last_seen() -> None:
    with pytest.raises(Overdue, match=r"^waited 0 s for x$"):
        wait_until(lambda: False, what="x", seconds=0)


def test_progress_extends_the_deadline() -> None:
    progress = iter([0, 1, 5, 5])
    looks: list[int] = []
    with pytest.raises(Overdue, match=r"^waited 0 s for x$"):
        wait_until(
            lambda: looks.append(1), what="x", seconds=0, every=0, reached=lambda: next(progress)
        )
    assert len(looks) == 3, "at first, and after each step"


def test_condition_is_checked_once_with_zero_seconds() -> None:
    assert wait_until(lambda: 7, what="x", seconds=0) == 7


def test_error_of_the_condition_propagates() -> None:
    def look() -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        wait_until(look, what="x", seconds=30)


def test_stop_interrupts_a_pause() -> None:
    stop = Stop()
    looked = threading.Event()

    def look() -> None:
        looked.set()

    def request_stop() -> None:
        looked.wait(20)
        stop.set("somebody asked")

    thread = threading.Thread(target=request_stop)
    thread.start()
    # The pause lasts ten minutes, so this test ends only if it is interrupted.
    with pytest.raises(Interrupted, match="somebody asked"):
        wait_until(look, what="x", seconds=600, every=600, stop=stop)
    thread.join()


def test_condition_is_not_checked_after_a_stop() -> None:
    stop = Stop()
    stop.set("over")
    with pytest.raises(Interrupted, match="over"):
        wait_until(lambda: pytest.fail("looked"), what="x", seconds=1, stop=stop)


def test_first_reason_of_a_stop_is_kept() -> None:
    stop = Stop()
    stop.set("first")
    stop.set("second")
    assert stop.reason == "first"
    with pytest.raises(Interrupted, match="first"):
        stop.check()


def test_interrupted_is_not_caught_as_exception() -> None:
    assert not issubclass(Interrupted, Exception)
    assert issubclass(Overdue, Exception)


def test_unset_stop_does_nothing() -> None:
    stop = Stop()
    stop.check()
    stop.pause(0)
    assert not stop.is_set()


def test_signal_handler_may_set_a_stop_during_its_pause() -> None:
    """The handler runs on the pausing thread, which may hold the event's lock."""
    stop = Stop()

    def interrupted() -> None:
        with stop._event._cond:
            stop.set("Ctrl-C")

    thread = threading.Thread(target=interrupted, daemon=True)
    thread.start()
    thread.join(20)
    assert not thread.is_alive()
    with pytest.raises(Interrupted, match="Ctrl-C"):
        stop.pause(600)
