"""Waiting: what is returned, what the error says, and that a stop ends it at once."""

from __future__ import annotations

import threading

import pytest

from onceproof.harness.wait import Interrupted, Overdue, Stop, wait_until


def test_returns_what_the_look_found() -> None:
    answers = iter([None, 0, "", ["here"]])
    assert wait_until(lambda: next(answers), what="x", seconds=30, every=0) == ["here"]


def test_the_error_says_what_for_how_long_and_what_was_seen() -> None:
    with pytest.raises(Overdue) as error:
        wait_until(lambda: None, what="spring", seconds=0, seen=lambda: "two swallows")
    assert str(error.value) == "waited 0 s for spring; last seen: two swallows"


def test_what_was_seen_is_what_is_there_at_the_end() -> None:
    looks: list[int] = []
    with pytest.raises(Overdue, match=r"last seen: (\d+)") as error:
        wait_until(
            lambda: looks.append(1), what="x", seconds=0.05, every=0.01, seen=lambda: len(looks)
        )
    assert str(error.value).endswith(f"last seen: {len(looks)}")
    assert len(looks) > 1


def test_without_a_description_the_error_says_nothing_of_it() -> None:
    with pytest.raises(Overdue, match=r"^waited 0 s for x$"):
        wait_until(lambda: False, what="x", seconds=0)


def test_it_goes_on_as_long_as_it_gets_further() -> None:
    far = iter([0, 1, 5, 5])
    looks: list[int] = []
    with pytest.raises(Overdue, match=r"^waited 0 s for x$"):
        wait_until(lambda: looks.append(1), what="x", seconds=0, every=0, reached=lambda: next(far))
    assert len(looks) == 3, "at first, and after each step"


def test_it_looks_once_even_when_there_is_no_time() -> None:
    assert wait_until(lambda: 7, what="x", seconds=0) == 7


def test_errors_of_the_look_pass_through() -> None:
    def look() -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        wait_until(look, what="x", seconds=30)


def test_a_stop_ends_a_pause_at_once() -> None:
    stop = Stop()
    looked = threading.Event()

    def look() -> None:
        looked.set()

    def ask() -> None:
        looked.wait(20)
        stop.set("somebody asked")

    thread = threading.Thread(target=ask)
    thread.start()
    # One pause lasts ten minutes: only an interrupted one lets this test come to its end.
    with pytest.raises(Interrupted, match="somebody asked"):
        wait_until(look, what="x", seconds=600, every=600, stop=stop)
    thread.join()


def test_nothing_is_looked_at_after_a_stop() -> None:
    stop = Stop()
    stop.set("over")
    with pytest.raises(Interrupted, match="over"):
        wait_until(lambda: pytest.fail("looked"), what="x", seconds=1, stop=stop)


def test_the_first_reason_stays() -> None:
    stop = Stop()
    stop.set("first")
    stop.set("second")
    assert stop.reason == "first"
    with pytest.raises(Interrupted, match="first"):
        stop.check()


def test_no_handler_of_ordinary_errors_swallows_a_stop() -> None:
    assert not issubclass(Interrupted, Exception)
    assert issubclass(Overdue, Exception)


def test_a_stop_that_nobody_asked_for_does_nothing() -> None:
    stop = Stop()
    stop.check()
    stop.pause(0)
    assert not stop.is_set()


def test_a_signal_may_ask_in_the_midst_of_a_pause() -> None:
    """Its handler runs on the thread that pauses, which may hold the event's lock just then."""
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
